"""An access token of the demo's service, with every scope of the API: bearer.py BASE-URL."""

import json
import sys
import urllib.request
from base64 import b64encode
from urllib.parse import urlencode

form = {"grant_type": "client_credentials", "scope": "read:charges write:charges write:refunds"}
request = urllib.request.Request(sys.argv[1] + "/token", urlencode(form).encode())
request.add_header("Authorization", "Basic " + b64encode(b"demo-service:demo-service-secret").decode())
print(json.load(urllib.request.urlopen(request))["access_token"])
