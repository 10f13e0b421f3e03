//! The rate limits.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use tower_governor::governor::{GovernorConfig, GovernorConfigBuilder};
use tower_governor::key_extractor::{KeyExtractor, PeerIpKeyExtractor, SmartIpKeyExtractor};
use tower_governor::{GovernorError, GovernorLayer};

use crate::partners::KEY;

type WithHeaders = governor::middleware::StateInformationMiddleware;
type NoHeaders = governor::middleware::NoOpMiddleware;

/// The limit of a partner is that of its key.
#[derive(Clone)]
pub(crate) struct KeyOfPartner;

impl KeyExtractor for KeyOfPartner {
    type Key = String;

    fn extract<T>(&self, request: &Request<T>) -> Result<String, GovernorError> {
        let key = request.headers().get(KEY).and_then(|key| key.to_str().ok());
        key.map(str::to_owned).ok_or(GovernorError::Other {
            code: StatusCode::UNAUTHORIZED,
            msg: Some("x-api-key is missing".to_owned()),
            headers: None,
        })
    }
}

pub(crate) struct Limits {
    /// Behind a proxy, so the address is that of `X-Forwarded-For`.
    address: Arc<GovernorConfig<SmartIpKeyExtractor, WithHeaders>>,
    key: Arc<GovernorConfig<KeyOfPartner, WithHeaders>>,
    orders: Arc<GovernorConfig<SmartIpKeyExtractor, WithHeaders>>,
    logins: Arc<GovernorConfig<PeerIpKeyExtractor, NoHeaders>>,
}

impl Limits {
    pub(crate) fn new() -> Result<Self, &'static str> {
        let invalid = "a burst and a period are not zero";
        Ok(Self {
            // five at once, then one every two seconds
            address: Arc::new(
                GovernorConfigBuilder::default()
                    .per_second(2)
                    .burst_size(5)
                    .key_extractor(SmartIpKeyExtractor)
                    .use_headers()
                    .finish()
                    .ok_or(invalid)?,
            ),
            key: Arc::new(
                GovernorConfigBuilder::default()
                    .per_second(2)
                    .burst_size(3)
                    .key_extractor(KeyOfPartner)
                    .use_headers()
                    .finish()
                    .ok_or(invalid)?,
            ),
            // orders are limited, their list is not
            orders: Arc::new(
                GovernorConfigBuilder::default()
                    .per_second(60)
                    .burst_size(2)
                    .methods(vec![Method::POST])
                    .key_extractor(SmartIpKeyExtractor)
                    .use_headers()
                    .finish()
                    .ok_or(invalid)?,
            ),
            logins: Arc::new(GovernorConfig::secure()),
        })
    }

    pub(crate) fn by_address(&self) -> GovernorLayer<SmartIpKeyExtractor, WithHeaders, Body> {
        GovernorLayer::new(Arc::clone(&self.address))
    }

    pub(crate) fn by_key(&self) -> GovernorLayer<KeyOfPartner, WithHeaders, Body> {
        GovernorLayer::new(Arc::clone(&self.key))
    }

    pub(crate) fn of_orders(&self) -> GovernorLayer<SmartIpKeyExtractor, WithHeaders, Body> {
        GovernorLayer::new(Arc::clone(&self.orders))
    }

    pub(crate) fn of_logins(&self) -> GovernorLayer<PeerIpKeyExtractor, NoHeaders, Body> {
        GovernorLayer::new(Arc::clone(&self.logins))
    }

    /// Forgets addresses and keys whose quota is full again.
    pub(crate) fn clean_up(&self) {
        let (address, key) = (Arc::clone(self.address.limiter()), Arc::clone(self.key.limiter()));
        let (orders, logins) = (
            Arc::clone(self.orders.limiter()),
            Arc::clone(self.logins.limiter()),
        );
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(60));
                address.retain_recent();
                key.retain_recent();
                orders.retain_recent();
                logins.retain_recent();
            }
        });
    }
}
