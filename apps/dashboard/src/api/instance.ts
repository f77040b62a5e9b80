/** What the server wrote into the page about itself. */
interface Instance {
  readonly version: string
  /** How clients reach the API, for examples that can be pasted. */
  readonly url: string
  readonly transport: "capture" | "relay" | "direct"
  readonly oidc: boolean
  readonly passkeyDomain: string
  /** Whether links may lead over names of customers. */
  readonly trackingDomains: boolean
}

const written = document.querySelector('meta[name="waybill"]')?.getAttribute("content") ?? "{}"

export const instance: Instance = {
  version: "",
  url: window.location.origin,
  transport: "capture",
  oidc: false,
  passkeyDomain: window.location.hostname,
  trackingDomains: false,
  ...(JSON.parse(written) as Partial<Instance>),
}
