//! WebSockets of routes.

use axum::body::Body;
use host_websocket::{Upgrade, hyper::Switch};
use http::{Request, Response, StatusCode};
use hyper::upgrade::OnUpgrade;

/// The parts of a request that complete its handshake. The request itself goes to the router.
pub(crate) struct Handshake {
    head: Request<()>,
    switch: Switch,
    upgraded: OnUpgrade,
}

impl Handshake {
    /// Returns `None` for a request that is no WebSocket handshake.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<Self> {
        if !Upgrade::is_requested(request.headers()) {
            return None;
        }
        let mut head = Request::new(());
        *head.method_mut() = request.method().clone();
        *head.version_mut() = request.version();
        *head.headers_mut() = request.headers().clone();
        Some(Self {
            head,
            switch: request.extensions().get::<Switch>()?.clone(),
            upgraded: request.extensions().get::<OnUpgrade>()?.clone(),
        })
    }
}

/// Completes a response that is an upgrade. Any other response is passed on.
pub(crate) fn complete(handshake: Option<Handshake>, mut response: Response<Body>) -> Response<Body> {
    let completed = match handshake {
        Some(handshake) => handshake
            .switch
            .complete(response, &handshake.head, handshake.upgraded),
        None => match Upgrade::take_from(&mut response) {
            Some(_without_handshake) => Err(StatusCode::BAD_REQUEST),
            None => Ok(response),
        },
    };
    completed.unwrap_or_else(|status| {
        let mut refused = Response::default();
        *refused.status_mut() = status;
        refused
    })
}
