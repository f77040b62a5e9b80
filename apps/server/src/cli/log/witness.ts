import * as Dns from "@waybill/mail/dns/Dns"
import { Effect } from "effect"
import * as Logs from "../../observability/Logs.ts"
import * as Settings from "../../settings/Settings.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"

export const witness = DataCommand.plain(
  {
    config: Options.required("config", "File with the name of the witness and the logs that it follows"),
    once: Options.isSet("once", "Follow each log once and end, with the exit code 3 if one has shown two histories"),
  },
  function* ({ config, once }) {
    const { dnsServers: servers, logLevel } = yield* Settings.load
    const dns = Dns.Dns.layer(servers.length === 0 ? {} : { servers })
    // Loaded by this command only.
    const { runWitness } = yield* Effect.promise(() => import("../../witness/runWitness.ts"))
    yield* runWitness(config, once).pipe(Effect.provide([dns, Logs.layer(logLevel)]))
  },
)
