//! Precise reasons of refusals, for the host only.

macro_rules! reasons {
    ($($(#[doc = $docs:literal])* $name:ident = $code:literal [$($check:tt),*],)*) => {
        /// Precise reason of a refusal or failure.
        ///
        /// The client gets one of the few error codes of the RFCs and, in errors of the
        /// authorization endpoint, the [`description`](Self::description). The host gets the reason
        /// itself in an [`AuthEvent`](crate::server::AuthEvent) and in the refusals of
        /// [`grant`](crate::grant).
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[doc = $docs])* $name,)*
        }

        impl Reason {
            /// All reasons.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the stable code, for logs and alarms.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// Returns the description of the reason, for developers: the text of its
            /// documentation.
            #[must_use]
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($docs),*).trim_start(),)*
                }
            }

            /// Returns the ids of the checks in `COMPLIANCE.md` that require this refusal, for
            /// example `DP13`. Empty for failures of the server.
            #[must_use]
            pub const fn checklist(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$(stringify!($check)),*],)*
                }
            }
        }
    };
}

impl serde::Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

reasons! {
    /// The access token has expired.
    AccessTokenExpired = "access_token_expired" [74],
    /// The request has several access tokens, a token in the query, or a malformed token.
    AccessTokenMalformed = "access_token_malformed" [3, 99],
    /// The request has no access token.
    AccessTokenMissing = "access_token_missing" [99, 100],
    /// The access token is not bound to the certificate of the connection.
    AccessTokenOfAnotherCertificate = "access_token_of_another_certificate" [MT3],
    /// A DPoP-bound access token was sent with the scheme `Bearer`, or another access token with
    /// the scheme `DPoP`.
    AccessTokenOfAnotherScheme = "access_token_of_another_scheme" [DP15],
    /// The access token was revoked, either alone or with its token family.
    AccessTokenRevoked = "access_token_revoked" [62, 63],
    /// The access token is unknown.
    AccessTokenUnknown = "access_token_unknown" [102],
    /// The request has `prompt=none`, and several users are signed in.
    AccountSelectionRequired = "account_selection_required" [34],
    /// The body exceeds 64 KiB.
    BodyTooLarge = "body_too_large" [4],
    /// A public client called the introspection endpoint.
    CallerIsPublic = "public_client_may_not_introspect" [60],
    /// The algorithm of the assertion is not the algorithm that is registered for the client.
    ClientAssertionAlgorithm = "client_assertion_algorithm" [11, 65],
    /// The assertion has expired.
    ClientAssertionExpired = "client_assertion_expired" [11, 74],
    /// The `aud` of the assertion is neither the issuer nor, unless assertions are strict, the
    /// token endpoint of this server.
    ClientAssertionForAnotherServer = "client_assertion_for_another_server" [11],
    /// The client has no key, or several keys, that match the header of the assertion.
    ClientAssertionKeyUnknown = "client_assertion_key_unknown" [11],
    /// The assertion expires more than one hour from now, or five minutes if assertions are strict.
    ClientAssertionLivesTooLong = "client_assertion_lives_too_long" [11],
    /// The assertion is malformed, or lacks a claim.
    ClientAssertionMalformed = "client_assertion_malformed" [11],
    /// The assertion is not valid yet.
    ClientAssertionNotYetValid = "client_assertion_not_yet_valid" [11, 74],
    /// `iss` or `sub` of the assertion is not the client.
    ClientAssertionOfAnotherClient = "client_assertion_of_another_client" [11, 75],
    /// `typ` of the assertion names another type of token.
    ClientAssertionOfAnotherType = "client_assertion_of_another_type" [11, 73],
    /// The assertion was presented before (replay).
    ClientAssertionReplayed = "client_assertion_replayed" [11],
    /// The signature of the assertion does not match the client's key.
    ClientAssertionSignatureMismatch = "client_assertion_signature_mismatch" [11],
    /// The server does not accept assertions, one of `client_assertion` and `client_assertion_type`
    /// is missing, or the type is unsupported.
    ClientAssertionUnsupported = "unsupported_client_authentication" [6],
    /// The client used an authentication method that is not registered for it.
    ClientAuthenticationMismatch = "client_authentication_method_mismatch" [6, 13],
    /// The client authenticates by certificate, but the connection has none.
    ClientCertificateMissing = "client_certificate_missing" [12],
    /// The certificate of the connection is not that of the client.
    ClientCertificateMismatch = "client_certificate_mismatch" [12],
    /// The client authenticates by a certificate from a CA, but the certificate of the connection
    /// was not verified against a CA.
    ClientCertificateUnverified = "client_certificate_unverified" [12],
    /// The client, its redirect URI or its grant type was removed while the user was at the sign-in
    /// or consent page.
    ClientChanged = "client_changed" [15, 47],
    /// `client_id` in the form differs from the authenticated client.
    ClientIdMismatch = "client_id_mismatch" [8],
    /// `client_id` is missing or malformed.
    ClientIdMissing = "client_id_missing" [15],
    /// The keys at the client's `jwks_uri` could not be fetched.
    ClientKeysUnavailable = "client_keys_unavailable" [],
    /// `client_id`, `redirect_uri` or `request_uri` is repeated.
    ClientOrRedirectUriRepeated = "client_or_redirect_uri_repeated" [1, 15],
    /// The client secret is wrong.
    ClientSecretMismatch = "client_secret_mismatch" [9],
    /// The client is not registered.
    ClientUnknown = "client_unknown" [10, 15],
    /// `code_challenge` is not 43 characters of canonical base64url.
    CodeChallengeMalformed = "code_challenge_malformed" [21],
    /// `code_challenge_method` is absent, which means `plain`, or not `S256`.
    CodeChallengeMethodNotS256 = "code_challenge_method_not_s256" [20],
    /// `code_challenge` is missing.
    CodeChallengeMissing = "code_challenge_missing" [20],
    /// The code has expired.
    CodeExpired = "code_expired" [35],
    /// The code was issued to another client.
    CodeOfAnotherClient = "code_of_another_client" [35, 43],
    /// The code is bound to a DPoP key, and the client did not prove possession of this key.
    CodeOfAnotherKey = "code_of_another_key" [33, 40],
    /// The code was redeemed before, and the request is otherwise valid.
    CodeReplayed = "code_replayed" [41],
    /// The code is unknown.
    CodeUnknown = "code_unknown" [35],
    /// `code_verifier` is not 43 to 128 unreserved characters.
    CodeVerifierMalformed = "code_verifier_malformed" [36],
    /// The verifier does not match the challenge.
    CodeVerifierMismatch = "code_verifier_mismatch" [37, 42],
    /// `code_verifier` is missing.
    CodeVerifierMissing = "code_verifier_missing" [39],
    /// The request needs the consent of the user, and no stored consent covers it.
    ConsentRequired = "consent_required" [34],
    /// The body is not a form.
    ContentTypeNotAForm = "content_type_not_a_form" [3],
    /// `dpop_jkt` is not a JWK thumbprint: 43 base64url characters.
    DpopJktMalformed = "dpop_jkt_malformed" [33],
    /// The nonce of the proof is not a recent nonce of the server.
    DpopNonceMismatch = "dpop_nonce_mismatch" [DP10],
    /// The proof has no nonce.
    DpopNonceMissing = "dpop_nonce_missing" [DP10],
    /// The algorithm of the proof is not accepted.
    DpopProofAlgorithm = "dpop_proof_algorithm" [DP5],
    /// The proof is for another access token.
    DpopProofForAnotherToken = "dpop_proof_for_another_token" [DP12],
    /// The proof is for another method.
    DpopProofForAnotherMethod = "dpop_proof_for_another_method" [DP8],
    /// The proof is for another URL.
    DpopProofForAnotherUri = "dpop_proof_for_another_uri" [DP9],
    /// The `jwk` of the proof is not a public key for its algorithm, or contains a private key.
    DpopProofKeyUnusable = "dpop_proof_key_unusable" [DP7],
    /// The proof is malformed, or lacks a claim.
    DpopProofMalformed = "dpop_proof_malformed" [DP2, DP3],
    /// A DPoP-bound token was sent without a proof.
    DpopProofMissing = "dpop_proof_missing" [DP1],
    /// The proof is not valid yet.
    DpopProofNotYetValid = "dpop_proof_not_yet_valid" [DP11],
    /// The key of the proof differs from the key to which the token or request is bound.
    DpopProofOfAnotherKey = "dpop_proof_of_another_key" [33, DP12],
    /// `typ` of the proof is not `dpop+jwt`.
    DpopProofOfAnotherType = "dpop_proof_of_another_type" [DP4],
    /// The request has several proofs.
    DpopProofRepeated = "dpop_proof_repeated" [DP1],
    /// The proof was presented before (replay).
    DpopProofReplayed = "dpop_proof_replayed" [DP13],
    /// The signature of the proof does not match its key.
    DpopProofSignatureMismatch = "dpop_proof_signature_mismatch" [DP6],
    /// The proof is too old.
    DpopProofTooOld = "dpop_proof_too_old" [DP11],
    /// A newly generated 256-bit value was already in the store. The source of randomness is
    /// broken.
    EntropyRepeats = "entropy_repeats" [],
    /// The client is not registered for the grant type.
    GrantTypeNotAllowed = "grant_type_not_allowed" [57],
    /// The grant type is not supported.
    GrantTypeUnsupported = "grant_type_unsupported" [2],
    /// The server has no signing key of the ID token algorithm that is registered for the client.
    IdTokenAlgorithmUnsupported = "id_token_algorithm_unsupported" [],
    /// `id_token_hint` is not an ID token that this server issued to the client.
    IdTokenHintInvalid = "id_token_hint_invalid" [],
    /// The user is not the user of `id_token_hint`.
    IdTokenHintOfAnotherUser = "id_token_hint_of_another_user" [],
    /// The interaction has expired: the user did not finish the sign-in and consent pages within
    /// ten minutes.
    InteractionExpired = "interaction_expired" [89],
    /// The request has `prompt=none`, and the host must show a page to the user.
    InteractionRequired = "interaction_required" [34],
    /// No such interaction exists in this browser, or it was completed before.
    InteractionUnknown = "interaction_unknown" [89],
    /// The request has `prompt=none`, and no user who is signed in matches it.
    LoginRequired = "login_required" [34],
    /// The client's URL for logout tokens did not respond.
    LogoutEndpointUnreachable = "logout_endpoint_unreachable" [],
    /// The client refused a logout token: its response was not a 2xx status.
    LogoutRefused = "logout_refused" [],
    /// The `Authorization` header is not valid for the scheme `Basic`.
    MalformedBasicCredentials = "malformed_basic_credentials" [7],
    /// `client_secret` has invalid characters or is too long.
    MalformedClientSecret = "malformed_client_secret" [9],
    /// The query or form is malformed.
    MalformedParameters = "malformed_parameters" [4],
    /// `scope` is not a list of scope tokens.
    MalformedScope = "malformed_scope" [23],
    /// `max_age` is not a number of seconds.
    MaxAgeMalformed = "max_age_malformed" [34],
    /// The endpoint does not support the method.
    MethodNotAllowed = "method_not_allowed" [3],
    /// `nonce` is not 1 to 512 printable ASCII characters.
    NonceMalformed = "nonce_malformed" [25],
    /// `openid` is requested without `nonce`.
    NonceMissing = "nonce_missing" [25],
    /// The user granted no requested scope.
    NothingGranted = "nothing_granted" [31],
    /// The access token lacks the scope `openid`.
    OpenidMissing = "openid_missing" [101],
    /// A required parameter is missing.
    ParameterMissing = "parameter_missing" [2],
    /// A parameter is repeated.
    ParameterRepeated = "parameter_repeated" [1],
    /// `prompt=none` is combined with other values.
    PromptNoneWithOthers = "prompt_none_with_others" [34],
    /// `redirect_uri` differs from the `redirect_uri` of the authorization request.
    RedirectUriMismatch = "redirect_uri_mismatch" [35],
    /// `redirect_uri` is missing or malformed.
    RedirectUriMissing = "redirect_uri_missing" [17],
    /// `redirect_uri` is not registered for the client.
    RedirectUriNotRegistered = "redirect_uri_not_registered" [16, 18],
    /// The refresh is a retry, but the [`RetryPepper`](crate::grant::RetryPepper) or the signing
    /// key has changed since the first response.
    RefreshNotRepeatable = "refresh_not_repeatable" [53],
    /// The refresh token or its family has expired.
    RefreshTokenExpired = "refresh_token_expired" [48],
    /// The refresh token was issued to another client.
    RefreshTokenOfAnotherClient = "refresh_token_of_another_client" [46],
    /// The token family is bound to a key or certificate, and the client did not prove possession
    /// of the private key.
    RefreshTokenOfAnotherKey = "refresh_token_of_another_key" [50, MT4],
    /// The refresh token was used after its rotation (reuse).
    RefreshTokenReused = "refresh_token_reused" [52],
    /// The refresh token is unknown.
    RefreshTokenUnknown = "refresh_token_unknown" [56],
    /// The server accepts only pushed requests.
    RequestNotPushed = "request_not_pushed" [32],
    /// The request has a `request` parameter (request object), which is not supported.
    RequestObject = "request_object" [34],
    /// The authorization request exceeds 64 KiB.
    RequestTooLarge = "request_too_large" [4],
    /// `request_uri` was not issued by this server for a pushed request.
    RequestUri = "request_uri" [34],
    /// The pushed request has expired.
    RequestUriExpired = "request_uri_expired" [32],
    /// The request was pushed by another client.
    RequestUriOfAnotherClient = "request_uri_of_another_client" [32],
    /// The pushed request contains a `request_uri`.
    RequestUriPushed = "request_uri_pushed" [32],
    /// The pushed request was already used: a sign-in with it was completed.
    RequestUriSpent = "request_uri_spent" [32],
    /// The pushed request is unknown.
    RequestUriUnknown = "request_uri_unknown" [32],
    /// A requested resource is not part of the grant, or the server has no such resource.
    ResourceExceeded = "resource_exceeded" [49],
    /// `resource` is not 1 to 2048 printable ASCII characters.
    ResourceMalformed = "resource_malformed" [49],
    /// `response_mode` is not `query`, `form_post` or, if registered, `fragment`, or cannot reach
    /// the redirect URI.
    ResponseModeUnsupported = "response_mode_unsupported" [19],
    /// `response_type` is missing.
    ResponseTypeMissing = "response_type_missing" [19],
    /// `response_type` is not `code`.
    ResponseTypeUnsupported = "response_type_unsupported" [19],
    /// A requested scope is not registered for the client, or not part of the grant.
    ScopeExceeded = "scope_exceeded" [23, 49],
    /// `scope` is missing or malformed.
    ScopeMissing = "scope_missing" [23],
    /// A scope is neither `<verb>:<noun>` nor a scope of OpenID Connect, and the server requires
    /// this shape.
    ScopeShape = "scope_shape" [],
    /// The client must use sender-constrained tokens, but did not prove the required DPoP key or
    /// certificate.
    SenderUnconfirmed = "sender_unconfirmed" [50, DP1, MT2],
    /// The session in which the user gave the grant has ended.
    SessionEnded = "session_ended" [110],
    /// The client used more than one authentication method in one request.
    SeveralClientAuthentications = "several_client_authentications" [5],
    /// The last authentication of the user is older than `max_age` or `prompt=login` allows.
    SignInTooOld = "sign_in_too_old" [34],
    /// The signer failed.
    SigningFailed = "signing_failed" [],
    /// `state` is missing where it is required, or malformed.
    StateMissing = "state_missing" [24],
    /// The store returned corrupt data.
    StoreCorrupt = "store_corrupt" [],
    /// The store did not respond.
    StoreUnavailable = "store_unavailable" [],
    /// The subject equals a client identifier.
    SubjectIsAClient = "subject_is_a_client" [58],
    /// The account of the user is locked.
    SubjectLocked = "subject_locked" [],
    /// The family of the token was revoked.
    TokenFamilyRevoked = "token_family_revoked" [52],
    /// A client requested the revocation of another client's token. The server did not revoke the
    /// token.
    TokenOfAnotherClient = "token_of_another_client" [61],
    /// Too many earlier attempts to authenticate failed.
    TooManyAttempts = "too_many_attempts" [14],
    /// Too many reset messages were requested for one address.
    TooManyResets = "too_many_resets" [116],
}
