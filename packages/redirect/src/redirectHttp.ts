import http from "node:http"
import https from "node:https"
import { syncBuiltinESMExports } from "node:module"
import { urlToHttpOptions } from "node:url"
import * as Target from "./Target.ts"

type Options = https.RequestOptions
type OnResponse = (response: http.IncomingMessage) => void
type Request = typeof http.request

/** Sends requests by `node:https` and `node:http`, as axios makes them, to the services elsewhere. */
export const redirectHttp = (base: URL): void => {
  const native = { "http:": http.request, "https:": https.request } as const
  for (const [protocol, module] of [
    ["http:", http],
    ["https:", https],
  ] as const) {
    const request = (...args: ReadonlyArray<unknown>): http.ClientRequest => {
      const { onResponse, options } = read(args)
      const target = targetOf(base, protocol, options)
      if (target === undefined)
        return (native[protocol] as (...args: ReadonlyArray<unknown>) => http.ClientRequest)(...args)
      return native[target.protocol as "http:" | "https:"](redirected(options, target, protocol), onResponse)
    }
    module.request = request as Request
    module.get = ((...args: ReadonlyArray<unknown>) => request(...args).end()) as Request
  }
  // Programs may import the functions by name.
  syncBuiltinESMExports()
}

/** Reads the arguments of `request`: an address, options, or both, and what is called with the response. */
const read = (args: ReadonlyArray<unknown>): { readonly options: Options; readonly onResponse?: OnResponse } => {
  const [first, second] = args
  const url = typeof first === "string" ? Target.parsed(first) : first instanceof URL ? first : undefined
  const options = (url === undefined ? first : second) as Options | undefined
  const onResponse = args.find((each) => typeof each === "function") as OnResponse | undefined
  return {
    options: {
      ...(url === undefined ? {} : urlToHttpOptions(url)),
      ...(typeof options === "object" ? options : {}),
    },
    ...(onResponse === undefined ? {} : { onResponse }),
  }
}

const targetOf = (base: URL, protocol: string, options: Options): URL | undefined => {
  const host = options.hostname ?? options.host?.replace(/:\d+$/u, "")
  const url =
    host === undefined || host === null ? undefined : Target.parsed(`${protocol}//${host}${options.path ?? "/"}`)
  return url === undefined ? undefined : Target.of(base, url)
}

/** An agent for another protocol cannot be used. The name in `Host` is that of the service. */
const redirected = (options: Options, target: URL, protocol: string): Options => {
  const {
    agent,
    headers,
    host: _,
    hostname: __,
    path: ___,
    port: ____,
    protocol: _____,
    servername: ______,
    ...rest
  } = options
  const kept = Object.fromEntries(
    Object.entries((headers ?? {}) as http.OutgoingHttpHeaders).filter(([name]) => name.toLowerCase() !== "host"),
  )
  return {
    ...rest,
    ...urlToHttpOptions(target),
    headers: kept,
    ...(agent === undefined || target.protocol !== protocol ? {} : { agent }),
  }
}
