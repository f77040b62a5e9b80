/** Settings of this installation, which the server writes into the page. */
interface Instance {
  readonly version: string
  /** Base URL of the API for code examples: that of the operator, or the address of this page. */
  readonly url: string
  readonly transport: "capture" | "relay" | "direct" | "nodemailer"
  /** Where this server accepts mail over SMTP; `null` if it does not. `host` is `null` if it is every address. */
  readonly submission: {
    readonly host: string | null
    readonly port: number
    /** Whether STARTTLS is offered. */
    readonly tls: boolean
    /** Port on which TLS begins at once. */
    readonly tlsPort: number | null
  } | null
  /** Where this server receives mail; `null` if it does not. `host` is `null` if it is every address. */
  readonly mail: { readonly host: string | null; readonly port: number } | null
  readonly oidc: boolean
  readonly passkeyDomain: string
  /** Whether customers may use their own domains in tracked links. */
  readonly trackingDomains: boolean
  /** Days that mail stays in the sandbox. */
  readonly sandboxDays: { readonly live: number; readonly test: number }
}

const settings = document.querySelector('meta[name="waybill"]')?.getAttribute("content") ?? "{}"

export const instance: Instance = {
  version: "",
  url: window.location.origin,
  transport: "capture",
  submission: null,
  mail: null,
  oidc: false,
  passkeyDomain: window.location.hostname,
  trackingDomains: false,
  sandboxDays: { live: 7, test: 1 },
  ...(JSON.parse(settings) as Partial<Instance>),
}
