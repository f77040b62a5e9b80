import * as Table from "../values/Table.ts"

/** Explanation of a delivery's category: what it means, and what the sender can do. */
export interface CauseText {
  readonly meaning: string
  readonly advice: string
  /** Advice for the time when no further attempt follows, where that differs. */
  readonly finalAdvice?: string
}

const UNKNOWN_CAUSE: CauseText = {
  meaning: "The server's reply does not say clearly why.",
  advice: "Read the reply of the server.",
}

const TEXTS: { readonly [category: string]: CauseText } = {
  invalid_recipient: {
    meaning: "The mailbox does not exist.",
    advice: "Check the address for a typing error, and ask the person for a current one.",
  },
  bad_domain: {
    meaning: "The domain of the address does not exist or accepts no mail.",
    advice: "Check the address for a typing error.",
  },
  mailbox_inactive: {
    meaning: "The mailbox is disabled or no longer used.",
    advice: "Ask the person for another address.",
  },
  mailbox_full: {
    meaning: "The mailbox of the recipient is full.",
    advice: "Reach the person another way, or send again when they have made space.",
  },
  greylisted: {
    meaning:
      "The server asks unknown senders to try again later, which is called greylisting. This is normal for a first message.",
    advice: "Wait: the next attempt usually succeeds.",
    finalAdvice: "Resend it: the server usually accepts a later attempt.",
  },
  throttled: {
    meaning: "The server accepts mail from this sender more slowly than it is sent.",
    advice: "Wait. If it persists, send more slowly to this provider.",
    finalAdvice: "Resend it later, and send more slowly to this provider.",
  },
  unavailable: {
    meaning: "The server could not accept mail at that time.",
    advice: "Wait: the error is on the other side.",
    finalAdvice: "Resend it once the server accepts mail again: the error is on the other side.",
  },
  blocked: {
    meaning: "The server blocks the sending address or domain, often by a blocklist or its reputation.",
    advice: "Look the sending IP address and domain up at the blocklist that the reply names, and ask for removal.",
  },
  auth: {
    meaning: "The server could not verify the sender: SPF, DKIM, DMARC, reverse DNS, or the login at the relay.",
    advice: "Publish the DNS records of the sending domain, and check the reverse DNS of the sending IP address.",
  },
  policy: {
    meaning: "A rule of the server or a property of the sender's address does not allow this message.",
    advice: "Read the reply of the server; ask its postmaster if it is unclear.",
  },
  content: {
    meaning: "The server took the content for spam, or does not accept something in it.",
    advice: "Check links, attachments and wording of the message.",
  },
  too_large: {
    meaning: "The message is larger than the server accepts.",
    advice: "Send smaller attachments, or links in their place.",
  },
  protocol: {
    meaning: "The server refused a command of the protocol.",
    advice: "An operator should look at the reply of the server.",
  },
  connection: {
    meaning: "The connection to the server could not be made, or was lost.",
    advice:
      "Wait. If all mail is affected, an operator should check that outgoing port 25, or the relay, is reachable.",
    finalAdvice:
      "Resend it once the server can be reached. If all mail is affected, an operator should check that outgoing port 25, or the relay, is reachable.",
  },
  tls: {
    meaning: "No encrypted connection to the server could be made, and its policy or the instance requires one.",
    advice: "The certificate of the receiving server is probably invalid; tell its operator.",
  },
  dns: {
    meaning: "The mail servers of the recipient's domain could not be found in DNS.",
    advice: "Check the domain of the address. If it is correct, wait: DNS may be failing for a moment.",
    finalAdvice: "Check the domain of the address. If it is correct, resend the email.",
  },
  cooling_down: {
    meaning: "The receiving provider asked for a pause, so no attempt was made.",
    advice: "Wait: the attempt follows after the pause.",
    finalAdvice: "Resend it after the pause.",
  },
  source_address: {
    meaning: "No address that this instance may send from was available for the receiving provider.",
    advice: "Wait: the response says when the next mail is sent. An operator can look at `waybill ips list`.",
    finalAdvice: "Resend it once an address may send. An operator can look at `waybill ips list`.",
  },
  lost_answer: {
    meaning:
      "The connection was lost after the message was sent and before the reply, so the server may have accepted it.",
    advice: "Wait. The message is sent again, so that the recipient may receive it twice.",
    finalAdvice: "Ask the recipient whether it arrived before you resend it.",
  },
  expired: {
    meaning: "Every attempt was deferred until the time for attempts ended.",
    advice: "Read the last reply of the server, remove the cause, and resend the email.",
  },
  not_configured: {
    meaning: "This instance does not have the transport that the domain uses.",
    advice: "An operator should configure the transport.",
  },
  signing: {
    meaning: "The message could not be signed with the DKIM key of the domain.",
    advice: "An operator should run `waybill doctor`.",
  },
  content_expired: {
    meaning: "The body was no longer kept when the message was due.",
    advice: "Send the message again.",
  },
  not_composable: {
    meaning: "The message could not be written in a form that mail allows.",
    advice: "Read the error, correct the message, and send it again.",
  },
  domain_removed: {
    meaning: "The sending domain was removed before the message was delivered.",
    advice: "Add the domain again, and resend the email.",
  },
}

/** Returns the explanation of a category. Later releases of the service may have others. */
export const of = (category: string | null | undefined): CauseText => Table.at(TEXTS, category ?? "") ?? UNKNOWN_CAUSE
