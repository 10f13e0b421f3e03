#![doc = include_str!("../README.md")]

mod carrier;
mod connections;
mod finish;
mod head;
mod limits;
mod linger;
mod open_connections;
mod serve;
mod socket;

pub use self::{
    carrier::{Carrier, Plain},
    finish::RunsToEnd,
    head::check_head,
    limits::Limits,
    linger::{LINGER, read_on},
    open_connections::OpenConnections,
    serve::{Accepted, Closing, Opened, Work, serve_connections},
    socket::{PeerWatch, Socket},
};
