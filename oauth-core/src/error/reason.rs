//! The precise reason behind a refusal, which the host learns and the peer does not.

macro_rules! reasons {
    ($($(#[$docs:meta])* $name:ident = $code:literal [$($check:tt),*],)*) => {
        /// Why something was refused, or what failed: one wire error outside, one precise reason inside.
        ///
        /// Peers are told one of the few errors of the RFCs; an [`AuthEvent`](crate::server::AuthEvent) and the refusals of
        /// [`grant`](crate::grant) carry this.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$docs])* $name,)*
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Its stable code, for logs and alarms.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The checks of `COMPLIANCE.md` that it enforces; none for a fault of the server's own.
            #[must_use]
            pub const fn checklist(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$(stringify!($check)),*],)*
                }
            }
        }
    };
}

reasons! {
    /// The access token is too old.
    AccessTokenExpired = "access_token_expired" [74],
    /// There are several access tokens, there is one in the query, or it has characters that no token has.
    AccessTokenMalformed = "access_token_malformed" [3, 99],
    /// There is no access token.
    AccessTokenMissing = "access_token_missing" [99, 100],
    /// The access token is bound to another certificate than its sender connected with.
    AccessTokenOfAnotherCertificate = "access_token_of_another_certificate" [MT3],
    /// The access token is bound to a key and came as a bearer token, or the other way round.
    AccessTokenOfAnotherScheme = "access_token_of_another_scheme" [DP15],
    /// The access token was revoked, alone or with its family.
    AccessTokenRevoked = "access_token_revoked" [62, 63],
    /// No such access token.
    AccessTokenUnknown = "access_token_unknown" [102],
    /// The body is larger than any request needs.
    BodyTooLarge = "body_too_large" [4],
    /// Somebody without credentials asks what a token is worth.
    CallerIsPublic = "public_client_may_not_introspect" [60],
    /// The assertion is signed with another algorithm than the client is registered for, or with none.
    ClientAssertionAlgorithm = "client_assertion_algorithm" [11, 65],
    /// The assertion is too old.
    ClientAssertionExpired = "client_assertion_expired" [11, 74],
    /// The assertion names another audience than the issuer alone.
    ClientAssertionForAnotherServer = "client_assertion_for_another_server" [11],
    /// The client has no such key.
    ClientAssertionKeyUnknown = "client_assertion_key_unknown" [11],
    /// The assertion would have to be remembered for too long.
    ClientAssertionLivesTooLong = "client_assertion_lives_too_long" [11],
    /// The assertion is no token, or lacks a claim.
    ClientAssertionMalformed = "client_assertion_malformed" [11],
    /// The assertion is from the future.
    ClientAssertionNotYetValid = "client_assertion_not_yet_valid" [11, 74],
    /// The assertion is not from its client about itself.
    ClientAssertionOfAnotherClient = "client_assertion_of_another_client" [11, 75],
    /// The assertion is a token for something else.
    ClientAssertionOfAnotherType = "client_assertion_of_another_type" [11, 73],
    /// The assertion was presented before.
    ClientAssertionReplayed = "client_assertion_replayed" [11],
    /// The signature is not by the client's key.
    ClientAssertionSignatureMismatch = "client_assertion_signature_mismatch" [11],
    /// The client authenticates by half an assertion, by one of another kind, or by one where none is on offer.
    ClientAssertionUnsupported = "unsupported_client_authentication" [6],
    /// The client authenticates in another way than it is registered for.
    ClientAuthenticationMismatch = "client_authentication_method_mismatch" [6, 13],
    /// The client is known by a certificate, and its connection has none.
    ClientCertificateMissing = "client_certificate_missing" [12],
    /// The certificate of the connection is another than the client is known by.
    ClientCertificateMismatch = "client_certificate_mismatch" [12],
    /// The client is known by what an authority says of it, and none vouches for the certificate of the connection.
    ClientCertificateUnverified = "client_certificate_unverified" [12],
    /// The client lost its redirect URI or its grant while the user was at the page.
    ClientChanged = "client_changed" [15, 47],
    /// `client_id` in the form is another than in the header.
    ClientIdMismatch = "client_id_mismatch" [8],
    /// No `client_id`, or none that could be one.
    ClientIdMissing = "client_id_missing" [15],
    /// A parameter that says where the answer goes came twice.
    ClientOrRedirectUriRepeated = "client_or_redirect_uri_repeated" [1, 15],
    /// The secret is not that of the client.
    ClientSecretMismatch = "client_secret_mismatch" [9],
    /// No such client is registered.
    ClientUnknown = "client_unknown" [10, 15],
    /// `code_challenge` is not 43 characters of canonical base64url.
    CodeChallengeMalformed = "code_challenge_malformed" [21],
    /// `code_challenge_method` is absent, which means `plain`, or not `S256`.
    CodeChallengeMethodNotS256 = "code_challenge_method_not_s256" [20],
    /// No `code_challenge`.
    CodeChallengeMissing = "code_challenge_missing" [20],
    /// The code is too old.
    CodeExpired = "code_expired" [35],
    /// The code was issued to another client.
    CodeOfAnotherClient = "code_of_another_client" [35, 43],
    /// The code is bound to a key that the client does not prove to have.
    CodeOfAnotherKey = "code_of_another_key" [33, 40],
    /// The code was redeemed before, and everything else is in order.
    CodeReplayed = "code_replayed" [41],
    /// No such code.
    CodeUnknown = "code_unknown" [35],
    /// `code_verifier` is not 43 to 128 unreserved characters.
    CodeVerifierMalformed = "code_verifier_malformed" [36],
    /// The verifier does not hash to the challenge.
    CodeVerifierMismatch = "code_verifier_mismatch" [37, 42],
    /// No `code_verifier`.
    CodeVerifierMissing = "code_verifier_missing" [39],
    /// The body is no form.
    ContentTypeNotAForm = "content_type_not_a_form" [3],
    /// `dpop_jkt` is no thumbprint.
    DpopJktMalformed = "dpop_jkt_malformed" [33],
    /// The nonce of the proof is none that the server handed out a moment ago.
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
    /// The key of the proof has a private part, or is not one that verifies.
    DpopProofKeyUnusable = "dpop_proof_key_unusable" [DP7],
    /// The proof is no token, or lacks a claim.
    DpopProofMalformed = "dpop_proof_malformed" [DP2, DP3],
    /// A token that is bound to a key came without a proof.
    DpopProofMissing = "dpop_proof_missing" [DP1],
    /// The proof is from the future.
    DpopProofNotYetValid = "dpop_proof_not_yet_valid" [DP11],
    /// The proof is under another key than the token, or the request, is bound to.
    DpopProofOfAnotherKey = "dpop_proof_of_another_key" [33, DP12],
    /// The proof is a token for something else.
    DpopProofOfAnotherType = "dpop_proof_of_another_type" [DP4],
    /// There are several proofs.
    DpopProofRepeated = "dpop_proof_repeated" [DP1],
    /// The proof was presented before.
    DpopProofReplayed = "dpop_proof_replayed" [DP13],
    /// The signature is not by the key of the proof.
    DpopProofSignatureMismatch = "dpop_proof_signature_mismatch" [DP6],
    /// The proof is too old.
    DpopProofTooOld = "dpop_proof_too_old" [DP11],
    /// A key of 256 random bits was there already.
    EntropyRepeats = "entropy_repeats" [],
    /// The client is not registered for the grant.
    GrantTypeNotAllowed = "grant_type_not_allowed" [57],
    /// The grant is not on offer.
    GrantTypeUnsupported = "grant_type_unsupported" [2],
    /// The user took longer than ten minutes.
    InteractionExpired = "interaction_expired" [89],
    /// No such sign-in is under way in this browser, or it was answered before.
    InteractionUnknown = "interaction_unknown" [89],
    /// The `Authorization` header is not that of the scheme Basic.
    MalformedBasicCredentials = "malformed_basic_credentials" [7],
    /// `client_secret` has characters that no secret has.
    MalformedClientSecret = "malformed_client_secret" [9],
    /// The query or form cannot be read.
    MalformedParameters = "malformed_parameters" [4],
    /// `scope` is not a list of scope tokens.
    MalformedScope = "malformed_scope" [23],
    /// `max_age` is no number of seconds.
    MaxAgeMalformed = "max_age_malformed" [34],
    /// The endpoint knows another method.
    MethodNotAllowed = "method_not_allowed" [3],
    /// `nonce` is too long or has other than printable characters.
    NonceMalformed = "nonce_malformed" [25],
    /// `openid` without `nonce`.
    NonceMissing = "nonce_missing" [25],
    /// The user granted nothing of what was asked for.
    NothingGranted = "nothing_granted" [31],
    /// The access token was not issued for a sign-in.
    OpenidMissing = "openid_missing" [101],
    /// A required parameter is missing.
    ParameterMissing = "parameter_missing" [2],
    /// A parameter came more than once.
    ParameterRepeated = "parameter_repeated" [1],
    /// `prompt=none`: whether somebody is signed in takes a page to find out.
    PromptNone = "prompt_none" [34],
    /// `prompt=none` beside other values.
    PromptNoneWithOthers = "prompt_none_with_others" [34],
    /// `redirect_uri` is not the one that the code was sent to.
    RedirectUriMismatch = "redirect_uri_mismatch" [35],
    /// No `redirect_uri`, or none that could be one.
    RedirectUriMissing = "redirect_uri_missing" [17],
    /// `redirect_uri` is not one of the client's.
    RedirectUriNotRegistered = "redirect_uri_not_registered" [16, 18],
    /// A refresh is repeated in time, and the pepper or the signing key is another one by now.
    RefreshNotRepeatable = "refresh_not_repeatable" [53],
    /// The refresh token was left idle too long, or its family is too old.
    RefreshTokenExpired = "refresh_token_expired" [48],
    /// The refresh token was issued to another client.
    RefreshTokenOfAnotherClient = "refresh_token_of_another_client" [46],
    /// The chain is bound to a key that the client does not prove to have.
    RefreshTokenOfAnotherKey = "refresh_token_of_another_key" [50, MT4],
    /// The refresh token was rotated before.
    RefreshTokenReused = "refresh_token_reused" [52],
    /// No such refresh token.
    RefreshTokenUnknown = "refresh_token_unknown" [56],
    /// The server takes pushed requests alone.
    RequestNotPushed = "request_not_pushed" [32],
    /// `request` is not on offer.
    RequestObject = "request_object" [34],
    /// The authorization request is larger than any needs to be.
    RequestTooLarge = "request_too_large" [4],
    /// `request_uri` names something else than a pushed request.
    RequestUri = "request_uri" [34],
    /// The pushed request is too old.
    RequestUriExpired = "request_uri_expired" [32],
    /// The request was pushed by another client.
    RequestUriOfAnotherClient = "request_uri_of_another_client" [32],
    /// A pushed request that is a reference itself.
    RequestUriPushed = "request_uri_pushed" [32],
    /// The pushed request was completed before.
    RequestUriSpent = "request_uri_spent" [32],
    /// No such pushed request.
    RequestUriUnknown = "request_uri_unknown" [32],
    /// A resource was asked for that is not granted, or that no token is issued for.
    ResourceExceeded = "resource_exceeded" [49],
    /// `resource` is not 1 to 2048 printable ASCII characters.
    ResourceMalformed = "resource_malformed" [49],
    /// `response_mode` is not `query`.
    ResponseModeUnsupported = "response_mode_unsupported" [19],
    /// No `response_type`.
    ResponseTypeMissing = "response_type_missing" [19],
    /// `response_type` is not `code`.
    ResponseTypeUnsupported = "response_type_unsupported" [19],
    /// More scopes were asked for than may be had.
    ScopeExceeded = "scope_exceeded" [23, 49],
    /// No `scope`, or none that could be one.
    ScopeMissing = "scope_missing" [23],
    /// The tokens of the client are bound to something that it does not prove to have.
    SenderUnconfirmed = "sender_unconfirmed" [50, DP1, MT2],
    /// The session in which the grant was given has ended.
    SessionEnded = "session_ended" [110],
    /// The client authenticates by several methods at once.
    SeveralClientAuthentications = "several_client_authentications" [5],
    /// The user signed in longer ago than the client takes.
    SignInTooOld = "sign_in_too_old" [34],
    /// The signer failed.
    SigningFailed = "signing_failed" [],
    /// No `state`, or none that could be one.
    StateMissing = "state_missing" [24],
    /// A store gave what it cannot have been given.
    StoreCorrupt = "store_corrupt" [],
    /// A store did not answer.
    StoreUnavailable = "store_unavailable" [],
    /// The user would be taken for a client.
    SubjectIsAClient = "subject_is_a_client" [58],
    /// The family of the token was revoked.
    TokenFamilyRevoked = "token_family_revoked" [52],
    /// A client asks to revoke the token of another; nothing happens.
    TokenOfAnotherClient = "token_of_another_client" [61],
    /// Too many attempts went wrong before.
    TooManyAttempts = "too_many_attempts" [14],
    /// Too many letters were asked for to one address.
    TooManyResets = "too_many_resets" [116],
}
