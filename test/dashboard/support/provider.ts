import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Person {
  readonly sub: string
  readonly email: string
  /** Whether the provider has verified the address. */
  readonly email_verified: boolean
}

export interface Provider {
  readonly issuer: string
  /** The person who is signed in at the provider. The provider shows no form. */
  person: Person
  /** Answers for the next requests of user info, one each; then `person` again. */
  people: ReadonlyArray<Person>
  /** Query parameters of the authorization requests. */
  readonly authorizationRequests: Array<URLSearchParams>
  readonly close: () => void
}

/** Minimal OpenID Connect provider for the authorization code flow. */
export const open = async (person: Person): Promise<Provider> => {
  const authorizationRequests: Array<URLSearchParams> = []
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
      authorizationRequests.push(url.searchParams)
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
    authorizationRequests,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return provider
}
