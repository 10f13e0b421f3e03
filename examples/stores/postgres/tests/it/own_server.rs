//! A PostgreSQL server of the test's own, which the test can kill.
//!
//! It needs the programs of Debian's `postgresql` package. Without them the suite prints one line
//! and is skipped; with `CI=true` it fails.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::timeout;
use webhook_core::ports::{Entropy, OsEntropy};

/// Debian's folder with one subfolder per version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Commits wait for the disk, as for any host: a server killed during the wait has answered
/// nothing.
const SETTINGS: [&str; 6] = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=on",
    "synchronous_commit=on",
    "shared_buffers=16MB",
    "max_connections=40",
];

/// Its log line after it was killed.
const RECOVERY: &str = "automatic recovery in progress";

/// Its log line when it accepts connections.
const READY: &str = "database system is ready to accept connections";

/// Timeout for a start, recovery included.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct OwnServer {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    has_tls: bool,
    postmaster: Option<Child>,
}

impl OwnServer {
    /// Makes an empty cluster and starts it; `None` if the programs are not installed.
    pub(crate) async fn start() -> Option<Self> {
        Self::start_with(None).await
    }

    /// As [`start`](Self::start), with TLS. The texts are the certificate and its key in PEM.
    pub(crate) async fn start_with_tls(certificate: &str, key: &str) -> Option<Self> {
        Self::start_with(Some([certificate, key])).await
    }

    async fn start_with(tls: Option<[&str; 2]>) -> Option<Self> {
        let mut server = Self {
            programs: programs()?,
            folder: TempDir::new().unwrap(),
            port: free_port(),
            has_tls: tls.is_some(),
            postmaster: None,
        };
        server.initialise();
        for (name, text) in ["server.crt", "server.key"]
            .into_iter()
            .zip(tls.into_iter().flatten())
        {
            server.write_data(name, text);
        }
        server.start_again().await;
        Some(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Kills all its processes at once.
    pub(crate) fn kill(&mut self) {
        let Some(mut postmaster) = self.postmaster.take() else {
            return;
        };
        let mut doomed = vec![postmaster.id()];
        doomed.extend(children_of(postmaster.id()));
        // with one command, so that no process sees another die and shuts down cleanly
        let kill = ["-c", "kill -KILL \"$@\"", "kill"];
        let ids = doomed.iter().map(u32::to_string);
        Command::new("sh")
            .args(kill.map(String::from).into_iter().chain(ids))
            .stderr(Stdio::null())
            .status()
            .unwrap();
        postmaster.wait().unwrap();
    }

    /// Starts the killed server again and waits for its recovery.
    pub(crate) async fn start_again(&mut self) {
        let started = timeout(PATIENCE, async {
            // a start that finds a child of the killed server ends again
            while self.spawn().recv().await.is_none() {
                self.postmaster.take().map(|mut ended| ended.wait());
            }
        });
        assert!(started.await.is_ok(), "it does not start: {}", self.log());
    }

    /// Number of recoveries in its log.
    pub(crate) fn recoveries(&self) -> usize {
        self.log().matches(RECOVERY).count()
    }

    fn initialise(&self) {
        if is_root() {
            let owned = Command::new("chown")
                .arg("postgres")
                .arg(self.folder.path())
                .status();
            assert!(owned.unwrap().success());
        }
        let made = self
            .program("initdb")
            .args(["--username", "postgres", "--auth", "trust"])
            .args(["--encoding", "UTF8", "--no-locale", "--no-sync"])
            .status();
        assert!(made.unwrap().success(), "{}", self.log());
    }

    /// Writes a file that only the server's user reads.
    fn write_data(&self, name: &str, text: &str) {
        let data = self.folder.path().join("data");
        let (file, owner) = (data.join(name), fs::metadata(&data).unwrap());
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
    }

    /// Starts the postmaster. The channel gets a message when it accepts connections, and is closed
    /// when it ends.
    fn spawn(&mut self) -> mpsc::Receiver<()> {
        let mut postgres = self.program("postgres");
        for setting in SETTINGS {
            postgres.args(["-c", setting]);
        }
        postgres.args(["-c", &format!("port={}", self.port)]);
        if self.has_tls {
            // the default names of certificate and key are in the folder of the data
            postgres.args(["-c", "ssl=on"]);
        }
        let mut postmaster = postgres
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(postmaster.stderr.take().unwrap());
        let mut log = self.open_log();
        let (ready, is_ready) = mpsc::channel(1);
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                writeln!(log, "{line}").ok();
                if line.contains(READY) {
                    ready.try_send(()).ok();
                }
            }
        });
        self.postmaster = Some(postmaster);
        is_ready
    }

    /// Command for one of its programs. It dies with the thread of the test, and never runs as
    /// root, which PostgreSQL refuses.
    fn program(&self, name: &str) -> Command {
        let log = self.open_log();
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if is_root() {
            command.args(["--reuid", "postgres", "--regid", "postgres", "--init-groups"]);
        }
        command
            .arg(self.programs.join(name))
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .current_dir(self.folder.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        command
    }

    fn open_log(&self) -> File {
        let log = File::options().append(true).create(true).open(self.log_file());
        log.unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The programs of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir(VERSIONS).ok()?;
    let programs = versions.map(|version| version.unwrap().path().join("bin"));
    programs
        .filter(|programs| programs.join("initdb").exists() && programs.join("postgres").exists())
        .max_by_key(|programs| version(programs))
}

fn version(programs: &Path) -> Option<u32> {
    programs.parent()?.file_name()?.to_str()?.parse().ok()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Below the ephemeral ports, so that no other process gets the port while the server is down.
fn free_port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let random = std::iter::repeat_with(|| {
        let mut bytes = [0; 2];
        OsEntropy.fill(&mut bytes);
        20_000 + u16::from_ne_bytes(bytes) % 12_000
    });
    random.take(100).find(is_free).unwrap()
}

/// The child processes of `parent` that have not been reaped.
fn children_of(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap();
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id| parent_of(*id) == Some(parent)).collect()
}

/// `None` for a process that has ended.
fn parent_of(id: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // the name in parentheses may hold anything; after it come the state and the parent
    let (_, fields) = status.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}
