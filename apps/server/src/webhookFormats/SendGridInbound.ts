import * as People from "./ReceivedPeople.ts"

/** Returns the fields of SendGrid's Inbound Parse that follow from the record of a mail. */
export const fieldsOf = (mail: People.Received): Readonly<Record<string, string>> => {
  const { auth, cc, envelope, livemode, subject, to } = mail
  return {
    to: People.textsOf(to),
    from: People.textOf(People.senderOf(mail)),
    ...(cc.length === 0 ? {} : { cc: People.textsOf(cc) }),
    subject: subject ?? "",
    dkim:
      auth.dkim.length === 0
        ? "none"
        : `{${auth.dkim.map(({ domain, result }) => `@${domain} : ${result}`).join(", ")}}`,
    SPF: auth.spf,
    envelope: JSON.stringify({ to: envelope.to, from: envelope.from }),
    sender_ip: envelope.remote_ip ?? "",
    ...(livemode ? {} : { livemode: String(livemode) }),
  }
}
