import * as Dns from "@waybill/mail/dns/Dns"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Logs from "../../observability/Logs.ts"
import * as Settings from "../../settings/Settings.ts"
import * as Options from "../Options.ts"

export const witness = Command.make(
  "witness",
  {
    config: Flag.String("config").pipe(
      Flag.withDescription("File with the name of the witness and the logs that it follows"),
    ),
    once: Options.isSet("once", "Follow each log once and end, with the exit code 3 if one has shown two histories"),
  },
  Effect.fn(function* ({ config, once }) {
    const { dnsServers: servers, logLevel } = yield* Settings.load
    const dns = Dns.Dns.layer(servers.length === 0 ? {} : { servers })
    // Loaded by this command only.
    const { runWitness } = yield* Effect.promise(() => import("../../witness/runWitness.ts"))
    yield* runWitness(config, once).pipe(Effect.provide([dns, Logs.layer(logLevel)]))
  }),
).pipe(Command.withDescription("Follow the logs of other instances, and sign that they show one history"))
