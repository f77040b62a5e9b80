import nodemailer from "nodemailer"

/** Sends a mail to the mail port, and returns the reply, or what has failed. */
export const send = async (
  port: number,
  raw: string | Buffer,
  to: string | ReadonlyArray<string> = "hi@shop.test",
  from = "ana@example.org",
): Promise<string> => {
  const client = nodemailer.createTransport({ host: "127.0.0.1", port, name: "mx.example.org", ignoreTLS: true })
  try {
    return (await client.sendMail({ envelope: { from, to: [to].flat() }, raw })).response
  } catch (error) {
    return (error as { readonly response?: string }).response ?? String(error)
  } finally {
    client.close()
  }
}

/** The id that a reply gives to a received mail; the reply if it was not received. */
export const idIn = (reply: string): string => /inb_\w+/u.exec(reply)?.[0] ?? reply
