import * as Network from "@waybill/mail/dns/Network"
import { Effect, Layer, Result } from "effect"
import { createServer, type RequestListener, type Server } from "node:http"
import * as https from "node:https"
import type { AddressInfo } from "node:net"
import type { X509Certificate } from "node:crypto"
import * as AmazonFetch from "../../../apps/server/src/providers/AmazonFetch.ts"
import * as Calls from "./calls.ts"

/** Paths that the servers in Amazon's place were asked for. */
export const asked: Array<string> = []

/** Files that the server in the place of Amazon SNS has beside the certificate. */
export const files = new Map<string, string>([["/a-forged.pem", Calls.SNS.root.certificate.toString()]])
/** Certificates of authorities by their path. */
export const issuers = new Map<string, X509Certificate>([["/test01.cer", Calls.SNS.issuer.certificate]])

const LOOPBACK = { A: ["127.0.0.1"] }
export const ZONES = {
  [Calls.SNS_HOST]: LOOPBACK,
  [Calls.ISSUER_HOST]: LOOPBACK,
  "sns.cn-north-1.amazonaws.com.cn": LOOPBACK,
}

const sns: RequestListener = (request, response) => {
  asked.push(request.url ?? "")
  response.end(files.get(request.url ?? "") ?? Calls.SNS_LEAF.certificate.toString())
}

const issuer: RequestListener = (request, response) => {
  asked.push(request.url ?? "")
  response.end(issuers.get(request.url ?? "")?.raw)
}

const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<number>(
      (resume) =>
        void server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port))),
    ),
    () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void))),
  )

const tls = Calls.SNS.leaf({ names: Object.keys(ZONES) })
const chain = [tls.certificate, Calls.SNS.issuer.certificate].map(String).join("")

/** Servers in the place of Amazon SNS and of Amazon's authorities, on loopback. */
export const layer = Layer.effect(
  AmazonFetch.AmazonServers,
  Effect.gen(function* () {
    const key = tls.privateKey.export({ format: "pem", type: "pkcs8" })
    return {
      httpsPort: yield* listening(https.createServer({ key, cert: chain }, sns)),
      httpPort: yield* listening(createServer(issuer)),
      allowed: Result.getOrThrow(Network.parseAll(["127.0.0.0/8"])),
      ca: [Calls.SNS.root.certificate.toString()],
      roots: () => [Calls.SNS.root.certificate],
    }
  }),
)
