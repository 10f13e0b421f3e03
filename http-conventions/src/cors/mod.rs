//! Cross-origin requests, by the CORS protocol of the [Fetch standard](https://fetch.spec.whatwg.org/#http-cors-protocol): which
//! pages of other origins a browser lets read the answers.
//!
//! Nothing of a request is ever written back: an origin is allowed because it stands in the policy, and methods and headers are
//! the policy's own list, whatever was asked for.
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
//! // every other answer, errors too
//! let mut answer = HeaderMap::new();
//! cors.apply(&preflight, &mut answer);
//! assert_eq!(answer["access-control-allow-origin"], "https://app.example.com");
//! assert_eq!(answer["vary"], "origin");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Security
//!
//! CORS keeps pages from reading answers, not from causing effects: a request that needs no preflight is carried out. It is no
//! protection against cross-site request forgery, and none against anything that is not a browser.

mod answer;
mod origin;
mod rules;

pub(crate) use self::answer::Reader;
pub use self::{
    answer::Cors,
    rules::{CorsMistake, CorsRules, InvalidCorsRules},
};
