#![no_main]

use std::time::{Duration, SystemTime};

use graph_core::subscription::transport_ws::{Action, AllowedOrigins, Handshake, Input};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|messages: Vec<&str>| {
    let headers = [(http::header::SEC_WEBSOCKET_PROTOCOL, "graphql-transport-ws".parse().expect("a value"))];
    let handshake = Handshake::read(&headers.into_iter().collect(), &AllowedOrigins::default()).expect("no origin");
    let mut now = SystemTime::UNIX_EPOCH;
    let mut connection = handshake.open(Default::default(), now);
    for message in messages {
        now += Duration::from_millis(message.len() as u64);
        for action in connection.handle(Input::Text(message), now) {
            if let Action::Authenticate(init) = action {
                let _text = init.text("authorization");
                let _ack = connection.handle(Input::Accepted { expires_at: None }, now);
            }
        }
        let _sent = connection.handle(Input::Sent, now);
    }
});
