"""Prints a token of OAUTHBEARER for Amazon MSK with IAM: a presigned URL (AWS Signature Version 4) in base64url.

The credentials are in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and for a role in AWS_SESSION_TOKEN. The token is valid
for 15 minutes, and linkd runs the command again every minute.

    linkd worker -X security.protocol=SASL_SSL -X sasl.mechanisms=OAUTHBEARER \\
        --sasl-token-command 'python3 config/samples/msk-iam-token.py eu-central-1'
"""

import base64
import datetime
import hashlib
import hmac
import os
import sys
from urllib.parse import quote

EMPTY = hashlib.sha256(b"").hexdigest()


def presigned(host, path, query, service, region, credentials, time, seconds, payload=EMPTY):
    """Returns the presigned URL of a GET request. `credentials` are the key, the secret, and the session or None."""
    key, secret, session = credentials
    scope = f"{time[:8]}/{region}/{service}/aws4_request"
    query = dict(query, **{
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": f"{key}/{scope}", "X-Amz-Date": time,
        "X-Amz-Expires": str(seconds), "X-Amz-SignedHeaders": "host"})
    if session:
        query["X-Amz-Security-Token"] = session
    text = "&".join(f"{quote(name, safe='')}={quote(query[name], safe='')}" for name in sorted(query))
    request = f"GET\n{path}\n{text}\nhost:{host}\n\nhost\n{payload}"
    signed = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    mac = ("AWS4" + secret).encode()
    for part in scope.split("/") + [signed]:
        mac = hmac.new(mac, part.encode(), hashlib.sha256).digest()
    return f"https://{host}{path}?{text}&X-Amz-Signature={mac.hex()}"


def token(region, credentials, time):
    """Returns the token of a region at a time such as 20150830T123600Z."""
    url = presigned(
        f"kafka.{region}.amazonaws.com", "/", {"Action": "kafka-cluster:Connect"}, "kafka-cluster", region, credentials,
        time, 900)
    return base64.urlsafe_b64encode((url + "&User-Agent=linkd").encode()).decode().rstrip("=")


def main():
    names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
    missing = [name for name in names if not os.environ.get(name)]
    if len(sys.argv) != 2 or missing:
        sys.exit("usage: msk-iam-token.py REGION, with " + " and ".join(missing or names) + " in the environment")
    credentials = [os.environ[name] for name in names] + [os.environ.get("AWS_SESSION_TOKEN")]
    print(token(sys.argv[1], credentials, datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")))


if __name__ == "__main__":
    main()
