import type { Instance } from "../../../apps/server/src/settings/Instance.ts"

/** Decisions of an operator who has made none, and those that a test needs. */
export const testInstance = (over: Partial<Instance["Service"]> = {}): Instance["Service"] => ({
  transport: "capture",
  returnPath: null,
  allowedNetworks: [],
  attachmentNetworks: [],
  baseUrl: null,
  tracks: false,
  trackingHost: null,
  mailHost: "mx.waybill.test",
  inboundDomain: "in.waybill.test",
  submission: null,
  ...over,
})
