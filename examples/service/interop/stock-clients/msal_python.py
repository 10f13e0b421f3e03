#!/usr/bin/env python3
"""MSAL for Python against the service behind TLS: sign-in, token from the cache, refresh.

usage: REQUESTS_CA_BUNDLE=CERTIFICATE msal_python.py ISSUER
"""

import warnings

import msal

from stock import CALLBACK, ISSUER, POST, api_accepts, parameters, sign_in

# MSAL warns that `response_mode` could be `form_post`
warnings.filterwarnings("ignore", module="msal")
# MSAL takes no authority without a path; the issuer may then have another path
AUTHORITY = f"{ISSUER}/tenant"
SCOPES = ["read:charges", "email"]
NATIVE_CALLBACK = "http://127.0.0.1:53219/callback"


def signs_in(application, callback):
    flow = application.initiate_auth_code_flow(SCOPES, redirect_uri=callback)
    token = application.acquire_token_by_auth_code_flow(flow, parameters(sign_in(flow["auth_uri"], callback)))
    assert token["id_token_claims"]["sub"] == "usr_ada", token
    (account,) = application.get_accounts()
    cached = application.acquire_token_silent(SCOPES, account)
    assert cached["access_token"] == token["access_token"], cached
    renewed = application.acquire_token_silent_with_error(SCOPES, account, force_refresh=True)
    assert renewed.get("access_token") not in (None, token["access_token"]), renewed
    api_accepts(renewed["access_token"])


# MSAL sends the secret in the form
web = msal.ConfidentialClientApplication(POST[0], client_credential=POST[1], oidc_authority=AUTHORITY)
signs_in(web, CALLBACK)
print("  ✓ MSAL for Python, web application: sign-in, token from the cache, refresh")
signs_in(msal.PublicClientApplication("demo-native", oidc_authority=AUTHORITY), NATIVE_CALLBACK)
print("  ✓ MSAL for Python, native application: sign-in, token from the cache, refresh")
