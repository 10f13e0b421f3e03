//! Command line options.

use std::env;

const USAGE: &str = "usage: WEBHOOK_SECRET=whsec_… webhook-sender FILE URL [AMOUNT]…";

pub(crate) struct Options {
    pub(crate) secret: String,
    pub(crate) file: String,
    pub(crate) url: String,
    pub(crate) amounts: Vec<u32>,
}

impl Options {
    pub(crate) fn parse() -> Result<Self, &'static str> {
        let secret = env::var("WEBHOOK_SECRET").map_err(|_| USAGE)?;
        let mut words = env::args().skip(1);
        let (Some(file), Some(url)) = (words.next(), words.next()) else {
            return Err(USAGE);
        };
        let amounts: Result<Vec<u32>, _> = words.map(|amount| amount.parse()).collect();
        let amounts = amounts.map_err(|_| USAGE)?;
        Ok(Self {
            secret,
            file,
            url,
            amounts,
        })
    }
}
