import type { Network } from "@waybill/domain/values/Network"
import type { ReturnPath } from "@waybill/mail/dns/DomainRecords"
import { Context } from "effect"

/** The operator's decisions that concern the requests of all accounts. */
export class Instance extends Context.Service<
  Instance,
  {
    readonly transport: "capture" | "relay" | "direct"
    /** How bounces are routed back; `null` where this instance receives no mail. */
    readonly returnPath: ReturnPath | null
    /** Private networks that webhooks may reach. */
    readonly allowedNetworks: ReadonlyArray<Network>
    /** Whether an address for tracked links is set, so that opens and clicks can be tracked. */
    readonly tracks: boolean
    /** CNAME target for customers' tracking domains; `null` where those are not enabled. */
    readonly trackingHost: string | null
  }
>()("@waybill/server/http/Instance") {}
