import { createRootRoute, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router"
import * as Queries from "./api/Queries.ts"
import { ApiError } from "./api/ApiError.ts"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as TimeRange from "./early/TimeRange.ts"
import { requestFiltersOf } from "./api/RequestFilters.ts"
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

/** Search parameter of the selected record. */
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

const overview = createRoute({
  getParentRoute: () => shell,
  path: "/overview",
  validateSearch: ({ range }): { readonly range?: TimeRange.RangeName } => (TimeRange.isName(range) ? { range } : {}),
  component: lazyScreen(() => import("./overview/Overview.tsx"), "Overview"),
})

const emails = createRoute({
  getParentRoute: () => shell,
  path: "/emails",
  validateSearch: (
    search: Readonly<Record<string, unknown>>,
  ): { readonly search?: string; readonly cancel?: true } => ({
    ...EmailSearch.searchOf(search),
    ...(search["cancel"] === true ? { cancel: true } : {}),
  }),
  component: lazyScreen(() => import("./emails/Emails.tsx"), "Emails"),
})

const email = createRoute({
  getParentRoute: () => shell,
  path: "/emails/$id",
  loader: ({ params }) => {
    void queryClient.prefetchQuery(Queries.email(params.id))
    void queryClient.prefetchQuery(Queries.emailEvents(params.id))
  },
  component: lazyScreen(() => import("./emails/Email.tsx"), "Email"),
})

const sandbox = createRoute({
  getParentRoute: () => shell,
  path: "/sandbox",
  validateSearch: withFilters("q", "id"),
  component: lazyScreen(() => import("./sandbox/Sandbox.tsx"), "Sandbox"),
})

const received = createRoute({
  getParentRoute: () => shell,
  path: "/received",
  validateSearch: withFilters("q", "id"),
  component: lazyScreen(() => import("./received/Received.tsx"), "Received"),
})

const routes = createRoute({
  getParentRoute: () => shell,
  path: "/routes",
  validateSearch: withNew,
  component: lazyScreen(() => import("./routes/Routes.tsx"), "Routes"),
})

const requests = createRoute({
  getParentRoute: () => shell,
  path: "/requests",
  validateSearch: requestFiltersOf,
  component: lazyScreen(() => import("./requests/Requests.tsx"), "Requests"),
})

const request = createRoute({
  getParentRoute: () => shell,
  path: "/requests/$id",
  component: lazyScreen(() => import("./requests/Request.tsx"), "Request"),
})

const compose = createRoute({
  getParentRoute: () => shell,
  path: "/compose",
  component: lazyScreen(() => import("./emails/compose/Compose.tsx"), "Compose"),
})

const domains = createRoute({
  getParentRoute: () => shell,
  path: "/domains",
  validateSearch: withFilters("q", "status"),
  component: lazyScreen(() => import("./domains/Domains.tsx"), "Domains"),
})

const domain = createRoute({
  getParentRoute: () => shell,
  path: "/domains/$name",
  component: lazyScreen(() => import("./domains/Domain.tsx"), "Domain"),
})

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks",
  validateSearch: withFilters("q", "status"),
  component: lazyScreen(() => import("./webhooks/Webhooks.tsx"), "Webhooks"),
})

const webhook = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks/$id",
  validateSearch: withFilters("status"),
  component: lazyScreen(() => import("./webhooks/Webhook.tsx"), "Webhook"),
})

const templates = createRoute({
  getParentRoute: () => shell,
  path: "/templates",
  validateSearch: withFilters("q", "status", "kind"),
  component: lazyScreen(() => import("./templates/Templates.tsx"), "Templates"),
})

const template = createRoute({
  getParentRoute: () => shell,
  path: "/templates/$id",
  validateSearch: withFilters("view", "tab", "language"),
  component: lazyScreen(() => import("./templates/Template.tsx"), "Template"),
})

const suppressions = createRoute({
  getParentRoute: () => shell,
  path: "/suppressions",
  validateSearch: withFilters("q", "reason", "source", "since"),
  component: lazyScreen(() => import("./suppressions/Suppressions.tsx"), "Suppressions"),
})

const apiKeys = createRoute({
  getParentRoute: () => shell,
  path: "/settings/api-keys",
  validateSearch: withFilters("q", "status", "mode"),
  component: lazyScreen(() => import("./settings/ApiKeys.tsx"), "ApiKeys"),
})

const members = createRoute({
  getParentRoute: () => shell,
  path: "/settings/members",
  validateSearch: withNew,
  component: lazyScreen(() => import("./settings/Members.tsx"), "Members"),
})

const plan = createRoute({
  getParentRoute: () => shell,
  path: "/settings/plan",
  component: lazyScreen(() => import("./settings/Plan.tsx"), "Plan"),
})

const auditLog = createRoute({
  getParentRoute: () => shell,
  path: "/settings/audit",
  validateSearch: withFilters("q", "stream", "actor", "since"),
  component: lazyScreen(() => import("./settings/AuditLog.tsx"), "AuditLog"),
})

const profile = createRoute({
  getParentRoute: () => shell,
  path: "/settings/sign-in",
  component: lazyScreen(() => import("./settings/Profile.tsx"), "Profile"),
})

const operateAccounts = createRoute({
  getParentRoute: () => shell,
  path: "/operate/accounts",
  component: lazyScreen(() => import("./operate/Accounts.tsx"), "Accounts"),
})

const operateQueues = createRoute({
  getParentRoute: () => shell,
  path: "/operate/queues",
  component: lazyScreen(() => import("./operate/Queues.tsx"), "Queues"),
})

const operateProjections = createRoute({
  getParentRoute: () => shell,
  path: "/operate/projections",
  component: lazyScreen(() => import("./operate/Projections.tsx"), "Projections"),
})

const operateProviders = createRoute({
  getParentRoute: () => shell,
  path: "/operate/providers",
  component: lazyScreen(() => import("./operate/Providers.tsx"), "Providers"),
})

const operateAddresses = createRoute({
  getParentRoute: () => shell,
  path: "/operate/addresses",
  component: lazyScreen(() => import("./operate/Addresses.tsx"), "Addresses"),
})

const operateNodes = createRoute({
  getParentRoute: () => shell,
  path: "/operate/nodes",
  component: lazyScreen(() => import("./operate/Nodes.tsx"), "Nodes"),
})

/** A path of no screen, for somebody who is signed in. */
const nowhere = createRoute({ getParentRoute: () => shell, path: "$", component: () => <NotFoundScreen /> })

const routeTree = root.addChildren([
  signIn,
  welcome,
  shell.addChildren([
    home,
    overview,
    emails,
    email,
    received,
    sandbox,
    compose,
    requests,
    request,
    routes,
    domains,
    domain,
    webhooks,
    webhook,
    templates,
    template,
    suppressions,
    apiKeys,
    members,
    plan,
    auditLog,
    profile,
    operateAccounts,
    operateQueues,
    operateProjections,
    operateProviders,
    operateAddresses,
    operateNodes,
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
