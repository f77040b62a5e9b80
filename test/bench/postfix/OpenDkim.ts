import { generateKeyPairSync } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { freePort } from "../../support/process/service.ts"
import * as Tools from "./tools.ts"

export const SELECTOR = "wb1"

/** Starts an opendkim that signs mail of a domain with RSA-2048, as Waybill signs. */
export const start = async (program: string, folder: string, domain = "acme.test") => {
  const port = await freePort()
  const keyFile = path.join(folder, "key.pem")
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  await fs.writeFile(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 })
  const file = path.join(folder, "opendkim.conf")
  await fs.writeFile(
    file,
    [
      "Mode s",
      `Domain ${domain}`,
      `Selector ${SELECTOR}`,
      `KeyFile ${keyFile}`,
      "Canonicalization relaxed/relaxed",
      "SignatureAlgorithm rsa-sha256",
      "InternalHosts 127.0.0.1",
      `Socket inet:${port}@127.0.0.1`,
      "Background no",
      "Syslog no",
      // Temporary folders are below one that all users may write to.
      "RequireSafeKeys no",
      "",
    ].join("\n"),
  )
  /** Record of the key, at `SELECTOR` of the domain. */
  const record = `v=DKIM1; k=rsa; p=${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`
  return { record, ...(await Tools.start(program, ["-f", "-x", file], port)) }
}
