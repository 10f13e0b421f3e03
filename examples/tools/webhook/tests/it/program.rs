//! Runs the program with arguments and a standard input; has the values shared by both sides.

use std::io::Write;
use std::process::{Command, Output, Stdio};

pub(crate) const SECRET: &str = "whsec_Tzuc4RkLS09XuInUQYOD961sTKHBtWuXC/jM6hCEqG8=";
pub(crate) const OTHER: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
pub(crate) const WHSK: &str =
    "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
pub(crate) const WHPK: &str = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
pub(crate) const ID: &str = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
pub(crate) const BODY: &[u8] = br#"{"type":"invoice.paid","data":{"object":{"id":"in_1","amount":1200}}}"#;

pub(crate) fn webhook(words: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_webhook"))
        .args(words)
        .env_remove("WEBHOOK_SECRET")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // a refused command does not read its input
    child.stdin.take().unwrap().write_all(stdin).ok();
    child.wait_with_output().unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
