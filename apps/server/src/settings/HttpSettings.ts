import { Config, Schema } from "effect"
import * as Connections from "../requests/Connections.ts"
import * as CompatHosts from "./CompatHosts.ts"
import { Count, HttpAddress, Networks, setting } from "./Setting.ts"
import * as Witnesses from "./Witnesses.ts"

export const DEFAULT_MAX_BODY_BYTES = 10 * 1024 * 1024
export const LARGEST_MAX_BODY_BYTES = 40 * 1024 * 1024
/** The setting of that maximum. Refusals name it. */
export const MAX_BODY_SETTING = "MAX_BODY_BYTES"

/** Settings of the HTTP server, of sign-in and of what requests may reach. */
export const TABLE = {
  port: setting(
    "PORT",
    "Port of the API, the documentation and the dashboard.",
    "3025",
    Config.Port("PORT").pipe(Config.withDefault(3025)),
  ),
  host: setting(
    "HOST",
    "Address to listen on.",
    "127.0.0.1",
    Config.String("HOST").pipe(Config.withDefault("127.0.0.1")),
  ),
  baseUrl: setting(
    "BASE_URL",
    "Address under which clients reach the service, if it is not http://HOST:PORT (behind a proxy).",
    null,
    Config.option(HttpAddress("BASE_URL")),
  ),
  trackingUrl: setting(
    "TRACKING_URL",
    "Base address of links that track opens and clicks, if it is not BASE_URL.",
    null,
    Config.option(HttpAddress("TRACKING_URL")),
  ),
  trackingDomains: setting(
    "TRACKING_DOMAINS",
    "Whether customers may use tracking domains of their own (on, off). The proxy must serve TLS for them.",
    "off",
    Config.Literals(["on", "off"], "TRACKING_DOMAINS").pipe(
      Config.withDefault("off" as const),
      Config.map((word) => word === "on"),
    ),
  ),
  transparency: setting(
    "TRANSPARENCY",
    "Whether everybody may read the log's signed heads and hashes at /log (on, off). Receipts work either way.",
    "on",
    Config.Literals(["on", "off"], "TRANSPARENCY").pipe(
      Config.withDefault("on" as const),
      Config.map((word) => word === "on"),
    ),
  ),
  witnesses: setting(
    "WITNESSES",
    `Witnesses that are asked to sign the log (ADDRESS=KEY, comma-separated, at most ${Witnesses.MAX_WITNESSES}), with the key that each prints when it starts.`,
    "none",
    Witnesses.config("WITNESSES"),
  ),
  witnessAllowNetworks: setting(
    "WITNESS_ALLOW_NETWORKS",
    "Private networks (CIDR, comma-separated) in which WITNESSES may be.",
    "none",
    Networks("WITNESS_ALLOW_NETWORKS"),
  ),
  trustedProxies: setting(
    "TRUSTED_PROXIES",
    "Networks (CIDR, comma-separated) of proxies whose X-Forwarded-For is trusted.",
    "none",
    Networks("TRUSTED_PROXIES"),
  ),
  compatHosts: setting(
    "COMPAT_HOSTS",
    `Host names under which this service speaks the API of another one (${CompatHosts.DOOR_NAMES.join(", ")}), such as mail.example.com=resend, comma-separated.`,
    "none",
    CompatHosts.config("COMPAT_HOSTS"),
  ),
  maxBodyBytes: setting(
    MAX_BODY_SETTING,
    `Maximum size of a request body in bytes, up to ${LARGEST_MAX_BODY_BYTES}.`,
    `${DEFAULT_MAX_BODY_BYTES}`,
    Config.schema(
      Schema.Int.check(Schema.isBetween({ minimum: 1024, maximum: LARGEST_MAX_BODY_BYTES })),
      MAX_BODY_SETTING,
    ).pipe(Config.withDefault(DEFAULT_MAX_BODY_BYTES)),
  ),
  httpMaxConnections: setting(
    "HTTP_MAX_CONNECTIONS",
    "Maximum number of open connections to PORT of this process, from 10 to 100000.",
    String(Connections.DEFAULT_MAX_CONNECTIONS),
    Count("HTTP_MAX_CONNECTIONS", Connections.DEFAULT_MAX_CONNECTIONS),
  ),
  httpMaxConnectionsPerAddress: setting(
    "HTTP_MAX_CONNECTIONS_PER_ADDRESS",
    "Maximum number of open connections per client address (IPv6: per /64), from 10 to 100000. TRUSTED_PROXIES are exempt.",
    String(Connections.DEFAULT_MAX_CONNECTIONS_PER_ADDRESS),
    Count("HTTP_MAX_CONNECTIONS_PER_ADDRESS", Connections.DEFAULT_MAX_CONNECTIONS_PER_ADDRESS),
  ),
  webhookAllowNetworks: setting(
    "WEBHOOK_ALLOW_NETWORKS",
    "Private networks (CIDR, comma-separated) that webhooks may reach, also by plain http.",
    "none",
    Networks("WEBHOOK_ALLOW_NETWORKS"),
  ),
  attachmentAllowNetworks: setting(
    "ATTACHMENT_ALLOW_NETWORKS",
    "Private networks (CIDR, comma-separated) that attachments named by a URL may be read from.",
    "none",
    Networks("ATTACHMENT_ALLOW_NETWORKS"),
  ),
  oidcIssuer: setting(
    "OIDC_ISSUER",
    "Issuer URL of an OpenID Connect provider for signing in to the dashboard.",
    null,
    Config.option(Config.String("OIDC_ISSUER")),
  ),
  oidcClientId: setting(
    "OIDC_CLIENT_ID",
    "Client id of this service at the OpenID Connect provider. The redirect URL is BASE_URL/auth/callback/oidc.",
    null,
    Config.option(Config.String("OIDC_CLIENT_ID")),
  ),
  oidcClientSecret: setting(
    "OIDC_CLIENT_SECRET",
    "Client secret of OIDC_CLIENT_ID.",
    null,
    Config.option(Config.Redacted("OIDC_CLIENT_SECRET")),
    true,
  ),
} as const
