import * as DnsAdvice from "@waybill/domain/domain/DnsAdvice"
import { instance } from "../api/instance.ts"
import type { Domain } from "../api/Records.ts"

/** Whether the sandbox verified the domain. Such a domain also receives, whether or not its owner turned that on. */
export const needsNoDns = (domain: Domain): boolean => instance.transport === "capture" && DnsAdvice.needsNoDns(domain)
