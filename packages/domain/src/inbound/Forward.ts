import * as Address from "../values/Address.ts"
import type { Heading } from "./InboundState.ts"

/** Maximum number of addresses that one forward goes to. */
export const MAX_TARGETS = 10

/** The facts of a mail that decide whom it may be forwarded to. */
export interface Forwarded extends Pick<Heading, "automatic" | "from"> {
  readonly envelope: { readonly from: string }
}

/**
 * Whether an address may not have an automatic mail, because somebody there wrote it: bounces and auto-replies to forwarded
 * mail that come back to the address that forwards would go round for ever.
 */
export const answersItself = ({ automatic, envelope, from }: Forwarded, target: Address.Address): boolean => {
  if (automatic !== "auto_reply" && automatic !== "bounce") return false
  const domain = Address.domainOf(target)
  return [from?.address ?? "", envelope.from].some((author) => Address.keyOfText(author).endsWith(`@${domain}`))
}
