#![no_main]

use std::time::{Duration, SystemTime};

use graph_core::subscription::transport_ws::{Action, AllowedOrigins, Handshake, Input, SUBPROTOCOL};
use http::{HeaderValue, header::SEC_WEBSOCKET_PROTOCOL};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|messages: Vec<&str>| {
    let offered = [(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL))];
    let handshake = Handshake::read(&offered.into_iter().collect(), &AllowedOrigins::default()).expect("no origin");
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
