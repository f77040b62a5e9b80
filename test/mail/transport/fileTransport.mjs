import { appendFileSync } from "node:fs"

/** A transport of nodemailer as a customer would write it: appends each message to a file, one JSON value a line. */
export default ({ file }) => ({
  name: "file",
  version: "1.0.0",
  send: (mail, callback) => {
    const chunks = []
    const stream = mail.message.createReadStream()
    stream.on("data", (chunk) => chunks.push(chunk))
    stream.on("error", callback)
    stream.on("end", () => {
      const raw = Buffer.concat(chunks).toString("latin1")
      appendFileSync(file, `${JSON.stringify({ envelope: mail.message.getEnvelope(), raw })}\n`)
      callback(null, { response: "id-1 queued" })
    })
  },
})
