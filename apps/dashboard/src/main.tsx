import { CSPProvider } from "@base-ui/react/csp-provider"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import * as Queries from "./api/Queries.ts"
import * as Api from "./api/Api.ts"
import { preloadCode } from "./preloadCode.ts"
import { router } from "./router.tsx"
import "./theme.css"
import { Toasts } from "./ui/feedback/Toasts.tsx"

Api.onSignedOut(() => {
  Queries.queryClient.removeQueries({ queryKey: ["session"] })
  void router.invalidate()
})

// The code of the first screen loads while the session is read.
preloadCode(window.location.pathname)

const show = (root: HTMLElement) =>
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={Queries.queryClient}>
          <Toasts>
            <RouterProvider router={router} />
          </Toasts>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  )

/** Loads the screen of the address, which may change meanwhile: by going back, or by a redirect. */
const load = async () => {
  for (let loaded = ""; loaded !== window.location.href;) {
    loaded = window.location.href
    await router.load()
  }
}

const root = document.getElementById("root")
// Until the session is read there is nothing to show, so the mark of the page stays.
if (root !== null) void load().finally(() => show(root))
