import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Person {
  readonly sub: string
  readonly email: string
  /** Whether the provider has made sure that the address is theirs. */
  readonly email_verified: boolean
}

export interface Provider {
  readonly issuer: string
  /** Who is signed in there at this moment; the provider asks nothing. */
  person: Person
  /** Those before, one for each time that somebody's name is asked for. */
  people: ReadonlyArray<Person>
  /** What the service asked with: whether it proves that the code is its own to redeem. */
  readonly asked: Array<URLSearchParams>
  readonly close: () => void
}

/** An OpenID Connect provider as far as a relying party goes through one. */
export const open = async (person: Person): Promise<Provider> => {
  const asked: Array<URLSearchParams> = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", provider.issuer)
    const json = (body: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(body))
    if (url.pathname === "/.well-known/openid-configuration")
      json({
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        userinfo_endpoint: `${provider.issuer}/userinfo`,
        jwks_uri: `${provider.issuer}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      })
    else if (url.pathname === "/authorize") {
      asked.push(url.searchParams)
      const back = new URL(url.searchParams.get("redirect_uri") ?? "")
      back.searchParams.set("code", "a-code")
      back.searchParams.set("state", url.searchParams.get("state") ?? "")
      response.writeHead(302, { location: back.href }).end()
    } else if (url.pathname === "/token") json({ access_token: "a-token", token_type: "Bearer", expires_in: 60 })
    else if (url.pathname === "/userinfo") {
      const [next = provider.person, ...others] = provider.people
      provider.people = others
      json({ ...next, name: "Known There" })
    } else response.writeHead(404).end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const provider: Provider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    person,
    people: [],
    asked,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return provider
}
