//! `sign` and `verify`, and invalid command lines.

use std::process::Output;

use crate::program::{BODY, ID, OTHER, SECRET, WHPK, WHSK, code, text, webhook};

fn signed(scheme: &str, secret: &str, body: &[u8]) -> Vec<String> {
    let words = [
        "sign",
        "--scheme",
        scheme,
        "--secret",
        secret,
        "--id",
        ID,
        "--timestamp",
        "1700000000",
    ];
    let output = webhook(&words, body);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

fn verify(scheme: &str, secrets: &[&str], headers: &[String], more: &[&str], body: &[u8]) -> Output {
    let mut words = vec!["verify", "--scheme", scheme];
    words.extend(secrets.iter().flat_map(|secret| ["--secret", secret]));
    words.extend(headers.iter().flat_map(|header| ["--header", header]));
    words.extend(more);
    webhook(&words, body)
}

/// W3: the signatures equal those of the reference libraries, for every scheme.
#[test]
fn sign_prints_the_headers_of_the_vectors() {
    for (scheme, secret, signature) in [
        (
            "standard",
            SECRET,
            "v1,n/GgCCORmDM7VTp392JUPn+0U6YYXrEJ2A/mPDo7KY4=",
        ),
        (
            "hex",
            SECRET,
            "v1,483c9316f605d0168804145cb4f6bc36906fb8dc952eb9e4eee726f21eae2108",
        ),
        (
            "hex-id",
            SECRET,
            "v1,9ff1a008239198333b553a77f762543e7fb453a6185eb109d80fe63c3a3b298e",
        ),
        (
            "hex",
            "your-signing-secret-32chars",
            "v1,4e8418b3a9dcda7af6255775b3ba2fbde8fc8bad4e29a8010852ac381bc5ca6e",
        ),
        (
            "ed25519",
            WHSK,
            "v1a,XJEehqrn6FEfiuarP3hkbWgI2DebvrIFB/lvDGaqjE8bPwqDyHpa03/W0uMNds6yiu33ruEV32avVM+hM5/kDg==",
        ),
    ] {
        let expected = [
            format!("Webhook-Id: {ID}"),
            "Webhook-Timestamp: 1700000000".to_owned(),
            format!("Webhook-Signature: {signature}"),
        ];
        assert_eq!(signed(scheme, secret, BODY), expected, "{scheme}");
    }
}

/// W5: exit 0 if it verifies, exit 1 with one line if it does not, for every scheme.
#[test]
fn verify_exits_with_1_on_an_invalid_message() {
    for (scheme, ours, theirs) in [
        ("standard", SECRET, SECRET),
        ("hex", SECRET, SECRET),
        ("hex-id", SECRET, SECRET),
        ("ed25519", WHSK, WHPK),
        ("ed25519", WHSK, WHSK),
    ] {
        let headers = signed(scheme, ours, BODY);
        for (now, body, expected) in [
            ("1700000300", BODY, 0),
            ("1699999700", BODY, 0),
            ("1700000301", BODY, 1),
            ("1700000000", b"{}".as_slice(), 1),
        ] {
            let output = verify(scheme, &[theirs], &headers, &["--now", now], body);
            assert_eq!(code(&output), expected, "{scheme} {now}");
            assert_eq!(
                text(&output.stderr).lines().count(),
                usize::try_from(expected).unwrap()
            );
        }
        let wide = verify(
            scheme,
            &[theirs],
            &headers,
            &["--now=1700000400", "--tolerance=400"],
            BODY,
        );
        assert_eq!(code(&wide), 0);
        assert_eq!(
            code(&verify(scheme, &[theirs], &headers, &[], BODY)),
            1,
            "the clock is the system's"
        );
    }
}

/// W2: repeated and missing headers are not repaired.
#[test]
fn verify_takes_the_headers_as_given() {
    let headers = signed("standard", SECRET, BODY);
    let now = ["--now", "1700000000"];
    let mut twice = headers.clone();
    twice.push(format!("webhook-id: {ID}"));
    assert_eq!(code(&verify("standard", &[SECRET], &twice, &now, BODY)), 1);
    let mut split = headers.clone();
    split.insert(2, "WEBHOOK-SIGNATURE: v1,bm9wZQ== v2,x".to_owned());
    assert_eq!(code(&verify("standard", &[SECRET], &split, &now, BODY)), 0);
    assert_eq!(code(&verify("standard", &[SECRET], &[], &now, BODY)), 1);
    assert_eq!(
        code(&verify("standard", &[OTHER, SECRET], &headers, &now, BODY)),
        0
    );
    let control = ["webhook-id: a\u{1}".to_owned()];
    assert_eq!(code(&verify("standard", &[SECRET], &control, &now, BODY)), 1);
}

/// W5: the diagnosis is printed with `--explain` alone.
#[test]
fn explain_names_the_mistake() {
    let headers = signed("hex-id", SECRET, BODY);
    let with_newline = [BODY, b"\n"].concat();
    let now = ["--now", "1700000000"];
    let quiet = verify("hex-id", &[SECRET], &headers, &now, &with_newline);
    assert!(!text(&quiet.stderr).contains("likely"));
    let explain = ["--now", "1700000000", "--explain"];
    let loud = verify("hex-id", &[SECRET], &headers, &explain, &with_newline);
    assert!(text(&loud.stderr).contains("likely: a newline was added to the end of the body"));
    let scheme = verify("standard", &[SECRET], &headers, &explain, BODY);
    assert!(text(&scheme.stderr).contains("another scheme: id-timestamp-body-hex"));
    assert_eq!((code(&loud), code(&scheme)), (1, 1));
}

/// Every invalid command line exits with 2 and one line, and shows no secret.
#[test]
fn bad_usage_exits_with_2_and_one_line() {
    for words in [
        &[] as &[&str],
        &["sing"],
        &["sign"],
        &["sign", "--secret"],
        &["sign", "--secret", "whsec_short"],
        &["sign", "--secret", SECRET, "--scheme", "md5"],
        &["sign", "--secret", SECRET, "--id", "a.b"],
        &["sign", "--secret", SECRET, "--timestamp", "1e9"],
        &["sign", "--secret", SECRET, "--id", "a", "--id", "b"],
        &["sign", "--secret", SECRET, "extra"],
        &["sign", "--secret", SECRET, "--", "extra"],
        &["sign", "--secret", SECRET, "-x"],
        &[
            "send",
            "http://127.0.0.1:1/",
            "--secret",
            SECRET,
            "--timeout",
            "0",
        ],
        &["inspect", "-x"],
        &["sign", "--secret", WHSK],
        &["sign", "--scheme", "ed25519", "--secret", WHPK],
        &["verify", "--secret", SECRET, "--header", "no colon"],
        &["verify", "--secret", SECRET, "--header", "a b: c"],
        &["verify", "--secret", SECRET, "--now", "-1"],
        &["verify", "--secret", SECRET, "--tolerance", "x"],
        &["verify", "--secret", SECRET, "--explain=yes"],
        &["verify", "--header", "a: b"],
        &["send", "--secret", SECRET],
        &["send", "ftp://example.com", "--secret", SECRET],
        &["send", "https://10.0.0.1/", "--secret", SECRET],
        &["send", "http://127.0.0.1:1/", "--secret", SECRET, "--count", "0"],
        &[
            "send",
            "http://127.0.0.1:1/",
            "--secret",
            SECRET,
            "--count",
            "2",
            "--id",
            "a",
        ],
        &["send", "http://127.0.0.1:1/", "--secret", SECRET, "--data", "[]"],
        &["send", "http://127.0.0.1:1/", "--secret", SECRET, "--type", "a.b"],
        &["listen", "--secret", SECRET, "--listen", "here"],
        &["inspect"],
        &["inspect", "a", "b"],
        &["inspect", "a", "--state", "lost"],
        &["replay", "a"],
        &["replay", "a", "--all", "--event", "evt_1"],
        &["replay", "a", "--all", "--state", "acked"],
    ] {
        let output = webhook(words, b"{}");
        let said = text(&output.stderr);
        assert_eq!((code(&output), said.lines().count()), (2, 1), "{words:?} {said}");
        assert!(!said.contains("short") && !said.contains("Tzuc4"), "{said}");
    }
}

/// A misplaced secret is not shown, for any place and scheme.
#[test]
fn a_misplaced_secret_is_not_shown() {
    let passphrase = "Tzuc4 in the words of a passphrase";
    for words in [
        &[SECRET] as &[&str],
        &["sign", SECRET],
        &["sign", "--", SECRET],
        &["sign", "--scheme", SECRET, "--secret", "standard"],
        &["sign", "--secret-file", SECRET],
        &["sign", "--secret", SECRET, "--timestamp", SECRET],
        &["sign", "--secret", SECRET, "--id", &format!("{SECRET} ")],
        &["sign", "--scheme", "hex", "--secret", "a", passphrase],
        &[
            "sign",
            "--scheme",
            "ed25519",
            "--secret",
            WHPK,
            &WHSK.replace("6Xb/d", "Tzuc4"),
        ],
        &["verify", "--header", SECRET],
        &["verify", "--header", &format!("{SECRET}: a")],
        &["send", SECRET, "--secret", SECRET],
        &["send", "http://127.0.0.1:1/", passphrase, "--secret", SECRET],
        &["inspect", SECRET],
        &["inspect", "a", "--state", SECRET],
        &["replay", "a", "--endpoint", &format!("{SECRET} ")],
    ] {
        let output = webhook(words, b"");
        let said = text(&output.stderr) + &text(&output.stdout);
        assert!([1, 2].contains(&code(&output)), "{words:?}");
        assert!(!said.contains("Tzuc4") && !said.contains("passphrase"), "{said}");
    }
}

/// The message about too many keys has the limit of their scheme.
#[test]
fn too_many_secrets_are_counted_by_their_scheme() {
    let sign = |scheme: &str, secret: &str, times: usize| {
        let mut words = vec!["sign", "--scheme", scheme];
        words.extend(["--secret", secret].repeat(times));
        let output = webhook(&words, b"");
        (code(&output), text(&output.stderr))
    };
    for (scheme, secret, most, said) in [
        ("standard", SECRET, 8, "at most eight"),
        ("ed25519", WHSK, 4, "at most four"),
    ] {
        assert_eq!(sign(scheme, secret, most).0, 0, "{scheme}");
        let (code, why) = sign(scheme, secret, most + 1);
        assert!(code == 2 && why.contains(said), "{why}");
    }
}

/// A flag's value that reads `--help` is a value.
#[test]
fn help_is_a_flag_and_not_a_value() {
    for words in [
        &["--help"] as &[&str],
        &["help"],
        &["sign", "-h"],
        &["verify", "--header", "a: b", "--help"],
    ] {
        let help = webhook(words, b"");
        assert_eq!((code(&help), text(&help.stderr).as_str()), (0, ""), "{words:?}");
        assert!(text(&help.stdout).starts_with("usage: webhook sign"));
    }
    let signed = webhook(&["sign", "--secret", SECRET, "--id", "--help"], b"");
    assert!(text(&signed.stdout).starts_with("Webhook-Id: --help\n"));
    let operand = webhook(&["inspect", "--", "--help"], b"");
    assert_eq!(code(&operand), 1);
}

/// Arguments that are not UTF-8 are refused: a replacement would make another secret.
#[cfg(unix)]
#[test]
fn non_utf8_arguments_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let word = std::ffi::OsStr::from_bytes(b"text:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xff");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_webhook"))
        .args(["sign", "--secret"])
        .arg(word)
        .output()
        .unwrap();
    assert_eq!(code(&output), 2);
}
