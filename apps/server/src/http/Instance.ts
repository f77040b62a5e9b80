import type { Network } from "@waybill/domain/values/Network"
import type { ReturnPath } from "@waybill/mail/dns/DomainRecords"
import { Context } from "effect"

/** What the operator decided for all accounts, as far as requests are concerned. */
export class Instance extends Context.Service<
  Instance,
  {
    readonly transport: "capture" | "relay" | "direct"
    /** How bounces find the way back; `null` where this instance takes no mail. */
    readonly returnPath: ReturnPath | null
    /** Networks of the operator's own that webhooks may reach. */
    readonly allowedNetworks: ReadonlyArray<Network>
    /** Whether there is an address that links in mail can lead to, so that opens and clicks can be told. */
    readonly tracks: boolean
    /** Where a name of a customer is to lead so that links may lead over it; `null` where none may. */
    readonly trackingHost: string | null
  }
>()("@waybill/server/http/Instance") {}
