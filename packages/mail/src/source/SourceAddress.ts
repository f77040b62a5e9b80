import type { Effect } from "effect"

/** An address of this host that mail leaves from, with its own name in EHLO. */
export interface Source {
  readonly address: string
  readonly name: string
}

export type Family = 4 | 6

export const familyOf = (address: string): Family => (address.includes(":") ? 6 : 4)

/** Sender of a message. The pool of source addresses depends on it. */
export interface Owner {
  readonly account_id: string
  readonly domain_id: string | null
}

export interface Request {
  readonly owner: Owner
  /** Key of the receiving provider whose mails a plan counts, or `OTHER`. */
  readonly provider: string
  /** The provider or the servers that pauses hold for. */
  readonly site: string
  /** Families in which the receiving servers have addresses. */
  readonly families: ReadonlySet<Family>
  /** Decides among addresses of equal rank. A retry of the same message has the same key, as greylisting wants. */
  readonly key: string
  /** Number of recipients to send to. */
  readonly recipients: number
  /** Addresses that failed for this message already. */
  readonly without: ReadonlySet<string>
  /** Whether the provider asked for a pause of mail from this address. */
  readonly isResting: (address: string) => boolean
}

export type Choice =
  /** No addresses are configured for the sender: the kernel chooses. */
  | { readonly _tag: "Kernel" }
  | {
      readonly _tag: "Chosen"
      readonly source: Source
      /** Number of recipients that may be sent to, at least 1. They are counted. */
      readonly recipients: number
      /** Takes back a number of recipients to which nothing was sent. */
      readonly giveBack: (recipients: number) => void
    }
  /** No address may be used now. */
  | {
      readonly _tag: "None"
      /** The pool that the sender is assigned to. */
      readonly pool: string
      readonly reason: string
      readonly retry_after_ms: number
      /** Whether a worker of another host may send at once, which is no event in the life of the message. */
      readonly isBrief: boolean
      /** Whether the configuration wants it so; if not, an operator has to correct something. */
      readonly isExpected: boolean
    }

/** A refusal of an address. */
export interface Block {
  readonly address: string
  readonly site: string
  readonly reply: string
  readonly pause_ms: number
}

/** Chooses addresses to send from, and learns what became of them. */
export interface Sources {
  /** Whether any address or assignment is configured; if not, nothing else is called. */
  readonly isConfigured: () => boolean
  readonly choose: (request: Request) => Effect.Effect<Choice>
  /** A site refused mail because of the address. */
  readonly blocked: (block: Block) => Effect.Effect<void>
  /** The address is not one of this host. */
  readonly absent: (address: string) => Effect.Effect<void>
}

/** Provider of all sites that no rule names. */
export const OTHER = "other"
