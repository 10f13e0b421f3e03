//! Login with an OpenID provider: its routes, and the extractor of the session.

use std::{fmt, future::Future, ops::Deref, pin::Pin};

use actix_web::web::{Data, ServiceConfig, get, post};
use actix_web::{FromRequest, HttpRequest, HttpResponse, ResponseError, dev::Payload, http as http02};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, LOCATION};
use http::{HeaderValue, Method, Response, StatusCode, Uri};
use http_body_util::Full;
use oauth_core::client::{SignInError, SignIns};
use oauth_core::session::Session;

use crate::Whole;
use crate::convert::{answer, head, status};

/// Path of the route that starts a sign-in.
const LOGIN: &str = "/login";
/// Path of the route that signs out.
const SIGN_OUT: &str = "/sign-out";

/// Adds a login with an OpenID provider to an app of actix-web.
///
/// - `GET /login` sends the browser to the provider.
/// - `GET` of the path of the [redirect URI](SignIns::redirect_uri) starts the session, and sends
///   the browser to `/`.
/// - `POST /sign-out` ends the session, and sends the browser to `/`. Its form needs the
///   [`csrf_field`](oauth_core::session::SessionSecret::csrf_field) of the session. The user stays
///   signed in at the provider.
/// - A failure is answered with its [plain text](SignInError::into_response) and passed to `log`.
/// - The app's data get `sign_ins`, for [`SignedIn`].
///
/// Routes with other paths call the methods of [`SignIns`] with the request of
/// [`Whole`](crate::Whole).
///
/// ```
/// use actix_web::{App, web};
/// use host_adapter_actix::{SignedIn, sign_in_routes};
/// use oauth_core::client::SignIns;
/// use oauth_core::error::diagnosis;
///
/// async fn home(user: SignedIn) -> String {
///     format!("signed in as {}", user.record.subject)
/// }
///
/// fn app(sign_ins: &SignIns) {
///     let app = App::new()
///         .configure(sign_in_routes(sign_ins, |error| eprintln!("{}", diagnosis(error))))
///         .route("/", web::get().to(home));
///     # drop(app);
/// }
/// ```
pub fn sign_in_routes(
    sign_ins: &SignIns,
    log: impl Fn(&SignInError) + Clone + 'static,
) -> impl FnOnce(&mut ServiceConfig) {
    let routes = Routes {
        sign_ins: sign_ins.clone(),
        log,
    };
    move |app| {
        let callback = path(routes.sign_ins.redirect_uri().as_str());
        app.app_data(Data::new(routes.sign_ins.clone()));
        let (login, back, out) = (routes.clone(), routes.clone(), routes);
        app.route(LOGIN, get().to(move |whole| login.clone().start(whole)));
        app.route(&callback, get().to(move |whole| back.clone().finish(whole)));
        app.route(SIGN_OUT, post().to(move |whole| out.clone().sign_out(whole)));
    }
}

#[derive(Clone)]
struct Routes<L> {
    sign_ins: SignIns,
    log: L,
}

impl<L: Fn(&SignInError)> Routes<L> {
    async fn start(self, Whole(request): Whole) -> HttpResponse {
        self.show(self.sign_ins.start(request.headers()).await)
    }

    async fn finish(self, Whole(request): Whole) -> HttpResponse {
        let done = self.sign_ins.sign_in(request.headers(), request.uri(), "/");
        self.show(done.await)
    }

    async fn sign_out(self, Whole(request): Whole) -> HttpResponse {
        let done = self.sign_ins.sign_out(request.headers(), request.body(), "/");
        self.show(done.await)
    }

    fn show(&self, done: Result<Response<Bytes>, SignInError>) -> HttpResponse {
        let response = done.unwrap_or_else(|error| {
            (self.log)(&error);
            error.into_response()
        });
        answer(response.map(Full::new))
    }
}

/// Returns the path of a redirect URI.
fn path(redirect_uri: &str) -> String {
    let uri = redirect_uri.parse::<Uri>();
    uri.map_or_else(|_| "/".to_owned(), |uri| uri.path().to_owned())
}

/// The session of the browser, by the [`SignIns`] in the app's data ([`sign_in_routes`]).
///
/// - Without a session a GET or HEAD is redirected to `/login`, and another request is refused with
///   403, because a 401 would need a challenge (RFC 9110 §11.6.1). A handler that also serves
///   visitors takes an `Option<SignedIn>`.
/// - The extractor does not read the body, so that a handler can also take a `web::Form`.
///
/// # Security
///
/// A page of another site can send a form with the session of the browser. A handler that changes
/// something compares the form's field `csrf_token`:
///
/// ```
/// use actix_web::{HttpResponse, web};
/// use host_adapter_actix::SignedIn;
///
/// #[derive(serde::Deserialize)]
/// struct NewNote {
///     text: String,
///     csrf_token: String,
/// }
///
/// /// The page has `user.secret.csrf_field()` in its form.
/// async fn add(user: SignedIn, form: web::Form<NewNote>) -> HttpResponse {
///     if !user.secret.is_csrf_token(&form.csrf_token) {
///         return HttpResponse::Forbidden().finish();
///     }
///     HttpResponse::Ok().body(format!("{}: {}", user.record.subject, form.text))
/// }
/// ```
#[derive(Debug)]
pub struct SignedIn(pub Session);

impl Deref for SignedIn {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl FromRequest for SignedIn {
    type Error = SignInRefusal;
    type Future = Pin<Box<dyn Future<Output = Result<Self, SignInRefusal>>>>;

    fn from_request(request: &HttpRequest, _source: &mut Payload) -> Self::Future {
        let sign_ins = request.app_data::<Data<SignIns>>().cloned();
        let head = head(request.head(), None);
        Box::pin(async move {
            let sign_ins = sign_ins.ok_or_else(|| refused(StatusCode::INTERNAL_SERVER_ERROR))?;
            let head = head.ok_or_else(|| refused(StatusCode::BAD_REQUEST))?;
            match sign_ins.session(head.headers()).await {
                Ok(Some(session)) => Ok(Self(session)),
                Ok(None) => Err(SignInRefusal(to_login(head.method()))),
                Err(error) => Err(SignInRefusal(error.into_response())),
            }
        })
    }
}

fn to_login(method: &Method) -> Response<Bytes> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return of_status(StatusCode::FORBIDDEN);
    }
    let mut response = of_status(StatusCode::SEE_OTHER);
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static(LOGIN));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn of_status(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

fn refused(status: StatusCode) -> SignInRefusal {
    SignInRefusal(of_status(status))
}

/// Rejection of [`SignedIn`]: a redirect to `/login`, 403, 503 if the session could not be read, or
/// 500 if the app has no [`SignIns`] in its data.
pub struct SignInRefusal(Response<Bytes>);

impl fmt::Debug for SignInRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignInRefusal({})", self.0.status())
    }
}

impl fmt::Display for SignInRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the request without a session was answered with {}",
            self.0.status()
        )
    }
}

impl ResponseError for SignInRefusal {
    fn status_code(&self) -> http02::StatusCode {
        status(self.0.status())
    }

    fn error_response(&self) -> HttpResponse {
        answer(self.0.clone().map(Full::new))
    }
}
