import nodemailer from "nodemailer"

/** Sends a mail with a report to an instance. */
export const sendReport = async (port: number, to: string, mail: Uint8Array): Promise<void> => {
  const client = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
  await client.sendMail({ envelope: { from: "", to }, raw: Buffer.from(mail) })
  client.close()
}
