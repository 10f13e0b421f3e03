//! Cross-origin resource sharing (CORS) by the [Fetch
//! standard](https://fetch.spec.whatwg.org/#http-cors-protocol): the origins whose pages may read
//! responses.
//!
//! No response echoes a value of the request: the allowed origins, methods and headers come from
//! the rules alone.
//!
//! ```
//! use http::{HeaderMap, Method, header};
//! use http_conventions::cors::CorsRules;
//!
//! let cors = CorsRules::origins(["https://app.example.com"]).with_credentials().build()?;
//!
//! let mut preflight = HeaderMap::new();
//! preflight.insert(header::ORIGIN, "https://app.example.com".parse()?);
//! preflight.insert(header::ACCESS_CONTROL_REQUEST_METHOD, "PUT".parse()?);
//! let answer = cors.preflight(&Method::OPTIONS, &preflight).ok_or("a preflight")?;
//! assert_eq!(answer.status(), 204);
//! assert_eq!(answer.headers()["access-control-allow-origin"], "https://app.example.com");
//!
//! // every other response, errors included
//! let mut answer = HeaderMap::new();
//! cors.apply(&preflight, &mut answer);
//! assert_eq!(answer["access-control-allow-origin"], "https://app.example.com");
//! assert_eq!(answer["vary"], "origin");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Security
//!
//! CORS prevents pages from reading responses, not from sending requests: the server processes a
//! request that needs no preflight. CORS does not protect against cross-site request forgery, nor
//! against clients other than browsers.

mod answer;
mod origin;
mod rules;

pub(crate) use self::answer::Reader;
pub use self::{
    answer::Cors,
    rules::{CorsMistake, CorsRules, InvalidCorsRules},
};
