/** Settings of this installation, which the server writes into the page. */
interface Instance {
  readonly version: string
  /** Base URL of the API for code examples. */
  readonly url: string
  readonly transport: "capture" | "relay" | "direct"
  readonly oidc: boolean
  readonly passkeyDomain: string
  /** Whether customers may use their own domains in tracked links. */
  readonly trackingDomains: boolean
}

const settings = document.querySelector('meta[name="waybill"]')?.getAttribute("content") ?? "{}"

export const instance: Instance = {
  version: "",
  url: window.location.origin,
  transport: "capture",
  oidc: false,
  passkeyDomain: window.location.hostname,
  trackingDomains: false,
  ...(JSON.parse(settings) as Partial<Instance>),
}
