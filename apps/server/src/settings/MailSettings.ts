import * as TrustedResolver from "@waybill/mail/dane/TrustedResolver"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import type * as ProviderModule from "@waybill/mail/provider/ProviderModule"
import { Config, Option, Result, Schema } from "effect"
import * as Blocklists from "@waybill/mail/source/Blocklists"
import { CommaList, ListOf, ifSet, port, secretIfSet, setting, text, textIfSet } from "./Setting.ts"
import * as SourceSetting from "./SourceSetting.ts"
import * as TransportName from "./TransportName.ts"

export const DEFAULT_SMTP_PORT = 2525

const relayProblem = (text: string): string | undefined =>
  Result.match(RelayTransport.parse(text), { onFailure: ({ reason }) => `it ${reason}`, onSuccess: () => undefined })

const optionsProblem = (text: string): string | undefined =>
  Option.isNone(decodeOptions(text)) ? "it is not a JSON object" : undefined

const decodeOptions = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** Returns the options of the nodemailer transport, which were checked when they were read. */
export const nodemailerOptions = (text: string | undefined): ProviderModule.Options =>
  Option.getOrElse(decodeOptions(text ?? "{}"), () => ({}))

/** Settings of accepting and delivering mail. */
export const TABLE = {
  smtpPort: port("SMTP_PORT", "Port of SMTP submission.", DEFAULT_SMTP_PORT),
  smtpsPort: ifSet(
    "SMTPS_PORT",
    "Port of SMTP submission that begins with TLS; 465 is usual. Needs SMTP_TLS_CERT and SMTP_TLS_KEY. Off when unset.",
    Config.Port,
  ),
  smtpTlsCert: textIfSet(
    "SMTP_TLS_CERT",
    "File of the certificate chain (PEM) for STARTTLS and SMTPS_PORT. Without it, SMTP accepts API keys from this machine only.",
  ),
  smtpTlsKey: textIfSet("SMTP_TLS_KEY", "File of the private key (PEM) of SMTP_TLS_CERT."),
  transport: setting(
    "TRANSPORT",
    "How mail is delivered: sandbox keeps it and sends nothing, relay sends it through SMTP_URL, direct sends it to the recipients' mail servers, nodemailer hands it to NODEMAILER_TRANSPORT.",
    "sandbox",
    Config.Literals(TransportName.NAMES, "TRANSPORT").pipe(
      Config.withDefault("sandbox" as const),
      Config.map(TransportName.toStored),
    ),
  ),
  smtpUrl: secretIfSet("SMTP_URL", "Relay server, as smtp://user:password@host:587 or smtps://…:465.", relayProblem),
  nodemailerTransport: textIfSet(
    "NODEMAILER_TRANSPORT",
    "Transport of nodemailer: ses, sendmail, or the name or path of a module that is installed beside the service.",
  ),
  nodemailerOptions: secretIfSet(
    "NODEMAILER_OPTIONS",
    "Options of NODEMAILER_TRANSPORT, as a JSON object.",
    optionsProblem,
    "{}",
  ),
  ehloName: setting(
    "EHLO_NAME",
    "Name of this host in EHLO. The host's address should resolve back to it.",
    "the host's name",
    Config.option(Config.String("EHLO_NAME")),
  ),
  sourceAddresses: setting(
    "SOURCE_ADDRESSES",
    "Addresses of this host (comma-separated, each with =name for its own name in EHLO) that a worker adds to the pool default when it starts and they are new. Direct delivery sends from them.",
    "none; the kernel chooses",
    ListOf("SOURCE_ADDRESSES", SourceSetting.SourceEntry),
  ),
  blocklists: setting(
    "BLOCKLISTS",
    `DNS blocklists (zones, comma-separated) in which to look up source addresses every 30 minutes; large is ${Blocklists.LARGE.join(", ")}.`,
    "none",
    ListOf("BLOCKLISTS", SourceSetting.Zone).pipe(Config.map(SourceSetting.zonesOf)),
  ),
  siteRules: textIfSet(
    "SITE_RULES",
    "JSON file with rules for receiving providers, which come before the built-in ones.",
  ),
  returnPathDomain: text(
    "RETURN_PATH_DOMAIN",
    "Domain of return paths, to which other servers send bounces and complaints.",
    "bounces.localhost",
  ),
  dnsServers: setting(
    "DNS_SERVERS",
    "DNS resolvers to use (host or host:port, comma-separated).",
    "the resolvers of the system",
    CommaList("DNS_SERVERS"),
  ),
  daneResolver: setting(
    "DANE_RESOLVER",
    "Resolver (address or address:port) that validates DNSSEC, and whose word is trusted: run it on this host or beside it. Direct delivery then checks mail servers by their TLSA records (DANE).",
    "none; DANE is off",
    Config.option(
      Config.schema(
        Schema.String.check(
          Schema.makeFilter((text) => TrustedResolver.parse(text) !== undefined, {
            expected: "an IP address, with :port if it is not 53",
          }),
        ),
        "DANE_RESOLVER",
      ),
    ),
  ),
} as const
