import * as SandboxTransport from "./SandboxTransport.ts"
import type * as Transport from "./Transport.ts"

/**
 * The transport of test mail, whatever the transport of the instance and of the domain: keeps the mail in the sandbox and opens no
 * socket. Its simulator knows addresses of all domains.
 */
export const make = (keep: SandboxTransport.Keep): Transport.Transport["Service"] => SandboxTransport.make(keep, "any")
