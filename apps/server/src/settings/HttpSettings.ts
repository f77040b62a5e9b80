import * as Connections from "../requests/Connections.ts"
import * as CompatHosts from "./CompatHosts.ts"
import {
  CONNECTIONS,
  HttpAddress,
  ifSet,
  networks,
  onOff,
  port,
  secretIfSet,
  setting,
  text,
  textIfSet,
  whole,
} from "./Setting.ts"
import * as Witnesses from "./Witnesses.ts"

export const DEFAULT_MAX_BODY_BYTES = 10 * 1024 * 1024
export const LARGEST_MAX_BODY_BYTES = 40 * 1024 * 1024
/** The setting of that maximum. Refusals name it. */
export const MAX_BODY_SETTING = "MAX_BODY_BYTES"

/** Settings of the HTTP server, of sign-in and of what requests may reach. */
export const TABLE = {
  port: port("PORT", "Port of the API, the documentation and the dashboard.", 3025),
  host: text("HOST", "Address to listen on.", "127.0.0.1"),
  baseUrl: ifSet(
    "BASE_URL",
    "Address under which clients reach the service, if it is not http://HOST:PORT (behind a proxy).",
    HttpAddress,
  ),
  trackingUrl: ifSet(
    "TRACKING_URL",
    "Base address of links that track opens and clicks, if it is not BASE_URL.",
    HttpAddress,
  ),
  trackingDomains: onOff(
    "TRACKING_DOMAINS",
    "Whether customers may use tracking domains of their own (on, off). The proxy must serve TLS for them.",
    "off",
  ),
  transparency: onOff(
    "TRANSPARENCY",
    "Whether everybody may read the log's signed heads and hashes at /log (on, off). Receipts work either way.",
    "on",
  ),
  witnesses: setting(
    "WITNESSES",
    `Witnesses that are asked to sign the log (ADDRESS=KEY, comma-separated, at most ${Witnesses.MAX_WITNESSES}), with the key that each prints when it starts.`,
    "none",
    Witnesses.config("WITNESSES"),
  ),
  witnessAllowNetworks: networks(
    "WITNESS_ALLOW_NETWORKS",
    "Private networks (CIDR, comma-separated) in which WITNESSES may be.",
  ),
  trustedProxies: networks(
    "TRUSTED_PROXIES",
    "Networks (CIDR, comma-separated) of proxies whose X-Forwarded-For is trusted.",
  ),
  compatHosts: setting(
    "COMPAT_HOSTS",
    `Host names under which this service speaks the API of another one (${CompatHosts.DOOR_NAMES.join(", ")}), such as mail.example.com=resend, comma-separated.`,
    "none",
    CompatHosts.config("COMPAT_HOSTS"),
  ),
  maxBodyBytes: whole(
    MAX_BODY_SETTING,
    `Maximum size of a request body in bytes, up to ${LARGEST_MAX_BODY_BYTES}.`,
    DEFAULT_MAX_BODY_BYTES,
    { minimum: 1024, maximum: LARGEST_MAX_BODY_BYTES },
  ),
  httpMaxConnections: whole(
    "HTTP_MAX_CONNECTIONS",
    "Maximum number of open connections to PORT of this process, from 10 to 100000.",
    Connections.DEFAULT_MAX_CONNECTIONS,
    CONNECTIONS,
  ),
  httpMaxConnectionsPerAddress: whole(
    "HTTP_MAX_CONNECTIONS_PER_ADDRESS",
    "Maximum number of open connections per client address (IPv6: per /64), from 10 to 100000. TRUSTED_PROXIES are exempt.",
    Connections.DEFAULT_MAX_CONNECTIONS_PER_ADDRESS,
    CONNECTIONS,
  ),
  webhookAllowNetworks: networks(
    "WEBHOOK_ALLOW_NETWORKS",
    "Private networks (CIDR, comma-separated) that webhooks may reach, also by plain http.",
  ),
  attachmentAllowNetworks: networks(
    "ATTACHMENT_ALLOW_NETWORKS",
    "Private networks (CIDR, comma-separated) that attachments named by a URL may be read from.",
  ),
  oidcIssuer: textIfSet("OIDC_ISSUER", "Issuer URL of an OpenID Connect provider for signing in to the dashboard."),
  oidcClientId: textIfSet(
    "OIDC_CLIENT_ID",
    "Client id of this service at the OpenID Connect provider. The redirect URL is BASE_URL/auth/callback/oidc.",
  ),
  oidcClientSecret: secretIfSet("OIDC_CLIENT_SECRET", "Client secret of OIDC_CLIENT_ID."),
} as const
