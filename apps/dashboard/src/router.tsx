import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  redirect,
  type RouteComponent,
} from "@tanstack/react-router"
import * as Queries from "./api/Queries.ts"
import { ApiError } from "./api/ApiError.ts"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as TimeRange from "./overview/TimeRange.ts"
import { BareErrorScreen, BareNotFoundScreen, ErrorScreen, NotFoundScreen } from "./shell/ErrorScreen.tsx"
import { lazyScreen } from "./shell/lazyScreen.ts"
import { Shell } from "./shell/Shell.tsx"

const { queryClient } = Queries

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** Accepts only paths of this site, so that a link cannot redirect to another site after sign-in. */
const localPath = (value: unknown): string | undefined => {
  const path = text(value)
  return path !== undefined && /^\/(?![/\\])/u.test(path) ? path : undefined
}

/** Search parameter that opens the dialog to create a record. */
const withNew = (search: Record<string, unknown>): { readonly new?: true } =>
  search["new"] === true ? { new: true } : {}

/** Reads the filters of a list from search parameters, and whether the dialog to create a record is open. */
const withFilters =
  <Name extends string>(...names: ReadonlyArray<Name>) =>
  (search: Record<string, unknown>): { readonly new?: true } & { readonly [N in Name]?: string } => ({
    ...withNew(search),
    ...(Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        // The router parses a text of digits as a number.
        return (typeof value === "string" || typeof value === "number") && value !== "" ? [[name, String(value)]] : []
      }),
    ) as { readonly [N in Name]?: string }),
  })

const root = createRootRoute({
  component: Outlet,
  errorComponent: BareErrorScreen,
  notFoundComponent: BareNotFoundScreen,
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search): { readonly next?: string; readonly error?: string; readonly second?: true } => {
    const [next, error] = [localPath(search["next"]), text(search["error"])]
    return {
      ...(next === undefined ? {} : { next }),
      ...(error === undefined ? {} : { error }),
      ...(search["second"] === true ? { second: true } : {}),
    }
  },
  component: lazyScreen(() => import("./signIn/SignIn.tsx"), "SignIn"),
})

const welcome = createRoute({
  getParentRoute: () => root,
  path: "/welcome",
  component: lazyScreen(() => import("./signIn/Welcome.tsx"), "Welcome"),
})

/** Parent of all screens that require a sign-in. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  // Without a session there is no shell to show the error in.
  errorComponent: BareErrorScreen,
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(Queries.session)
    } catch (error) {
      if (error instanceof ApiError && error.status === 401)
        throw redirect({ to: "/sign-in", search: { next: location.href } })
      throw error
    }
  },
})

const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/overview", replace: true })
  },
})

/** A screen behind the sign-in: its path, its code, and the search parameters that it reads. */
const screen = <const Path extends string, Code extends Record<Name, RouteComponent>, Name extends string, Search = {}>(
  path: Path,
  load: () => Promise<Code>,
  name: Name,
  validateSearch: (search: Record<string, unknown>) => Search = () => ({}) as Search,
) => createRoute({ getParentRoute: () => shell, path, component: lazyScreen(load, name), validateSearch })

const email = createRoute({
  getParentRoute: () => shell,
  path: "/emails/$id",
  validateSearch: ({
    reschedule,
    resend,
  }: Record<string, unknown>): {
    readonly resend?: true
    readonly reschedule?: true
  } => ({ ...(resend === true && { resend }), ...(reschedule === true && { reschedule }) }),
  loader: ({ params }) => {
    void queryClient.prefetchQuery(Queries.email(params.id))
    void queryClient.prefetchQuery(Queries.emailEvents(params.id))
  },
  component: lazyScreen(() => import("./emails/Email.tsx"), "Email"),
})

/** A path of no screen, for somebody who is signed in. */
const nowhere = createRoute({ getParentRoute: () => shell, path: "$", component: () => <NotFoundScreen /> })

const routeTree = root.addChildren([
  signIn,
  welcome,
  shell.addChildren([
    home,
    screen(
      "/overview",
      () => import("./overview/Overview.tsx"),
      "Overview",
      ({ range }): { readonly range?: TimeRange.RangeName } => (TimeRange.isName(range) ? { range } : {}),
    ),
    screen(
      "/emails",
      () => import("./emails/Emails.tsx"),
      "Emails",
      (search): { readonly search?: string; readonly cancel?: true } => ({
        ...EmailSearch.searchOf(search),
        ...(search["cancel"] === true ? { cancel: true } : {}),
      }),
    ),
    email,
    screen("/received", () => import("./received/Received.tsx"), "Received", withFilters("q", "id")),
    screen("/sandbox", () => import("./sandbox/Sandbox.tsx"), "Sandbox", withFilters("q", "id")),
    screen("/compose", () => import("./emails/compose/Compose.tsx"), "Compose"),
    screen(
      "/requests",
      () => import("./requests/Requests.tsx"),
      "Requests",
      withFilters("status", "method", "path", "api_key_id", "recipient"),
    ),
    screen("/requests/$id", () => import("./requests/Request.tsx"), "Request"),
    screen("/routes", () => import("./routes/Routes.tsx"), "Routes", withNew),
    screen("/domains", () => import("./domains/Domains.tsx"), "Domains", withFilters("q", "status")),
    screen("/domains/$name", () => import("./domains/Domain.tsx"), "Domain"),
    screen("/webhooks", () => import("./webhooks/Webhooks.tsx"), "Webhooks", withFilters("q", "status")),
    screen("/webhooks/$id", () => import("./webhooks/Webhook.tsx"), "Webhook", withFilters("status")),
    screen("/templates", () => import("./templates/Templates.tsx"), "Templates", withFilters("q", "status", "kind")),
    screen(
      "/templates/$id",
      () => import("./templates/Template.tsx"),
      "Template",
      withFilters("view", "tab", "language"),
    ),
    screen(
      "/suppressions",
      () => import("./suppressions/Suppressions.tsx"),
      "Suppressions",
      withFilters("q", "reason", "source", "since"),
    ),
    screen("/settings/api-keys", () => import("./settings/ApiKeys.tsx"), "ApiKeys", withFilters("q", "status", "mode")),
    screen("/settings/members", () => import("./settings/Members.tsx"), "Members", withNew),
    screen("/settings/plan", () => import("./settings/Plan.tsx"), "Plan"),
    screen(
      "/settings/audit",
      () => import("./settings/AuditLog.tsx"),
      "AuditLog",
      withFilters("q", "stream", "actor", "since"),
    ),
    screen("/settings/sign-in", () => import("./settings/Profile.tsx"), "Profile"),
    screen("/operate/accounts", () => import("./operate/Accounts.tsx"), "Accounts"),
    screen("/operate/queues", () => import("./operate/Queues.tsx"), "Queues"),
    screen("/operate/projections", () => import("./operate/Projections.tsx"), "Projections"),
    screen("/operate/providers", () => import("./operate/Providers.tsx"), "Providers"),
    screen("/operate/addresses", () => import("./operate/Addresses.tsx"), "Addresses"),
    screen("/operate/nodes", () => import("./operate/Nodes.tsx"), "Nodes"),
    screen("/operate/settings", () => import("./operate/Settings.tsx"), "Settings"),
    nowhere,
  ]),
])

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  // The query cache decides what is stale.
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  defaultErrorComponent: ErrorScreen,
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
