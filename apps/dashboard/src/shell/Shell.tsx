import { Dialog } from "@base-ui/react/dialog"
import { Outlet, useRouterState } from "@tanstack/react-router"
import { Menu as Bars, Search } from "lucide-react"
import { Suspense, useCallback, useState } from "react"
import * as Mode from "../api/Mode.ts"
import { IconButton } from "../ui/controls/Button.tsx"
import { ScreenSkeleton } from "../ui/feedback/Skeleton.tsx"
import { SCREEN } from "../ui/layout/Screen.tsx"
import { KeyboardHelp } from "./KeyboardHelp.tsx"
import { Logo } from "../ui/display/Logo.tsx"
import { CommandPalette } from "./CommandPalette.tsx"
import { useShortcuts } from "./useShortcuts.ts"
import { SandboxMark } from "./SandboxMark.tsx"
import { Sidebar } from "./Sidebar.tsx"
import { ConnectionBanner } from "./ConnectionBanner.tsx"
import { ForbiddenScreen } from "./ErrorScreen.tsx"
import * as Navigation from "./Navigation.ts"
import { TestModeBanner } from "../sandbox/TestMode.tsx"
import { useSession } from "../session/useSession.ts"

export const Shell = () => {
  const [palette, setPalette] = useState(false)
  const [help, setHelp] = useState(false)
  const [drawer, setDrawer] = useState(false)
  const openPalette = useCallback(() => setPalette(true), [])
  const openHelp = useCallback(() => setHelp(true), [])
  const { session } = useSession()
  const isTest = Mode.useIsTest()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const isAllowed = Navigation.isAllowed(path, session)
  useShortcuts({ onPalette: openPalette, onHelp: openHelp })
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-solid focus:px-3 focus:py-2 focus:text-solid-ink"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh w-58 shrink-0 border-r border-line bg-ground lg:block">
        <Sidebar onPalette={openPalette} onHelp={openHelp} />
      </aside>
      <div className="flex min-w-0 grow flex-col">
        <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-ground px-3 lg:hidden">
          <Dialog.Root open={drawer} onOpenChange={setDrawer}>
            <Dialog.Trigger render={<IconButton label="Open navigation" />}>
              <Bars size={18} />
            </Dialog.Trigger>
            <Dialog.Portal>
              <Dialog.Backdrop className="backdrop fixed inset-0 z-40 bg-black/30" />
              <Dialog.Popup
                aria-label="Navigation"
                className="fixed inset-y-0 left-0 z-50 w-64 border-r border-line bg-ground shadow-float outline-none"
              >
                <Sidebar
                  onNavigate={() => setDrawer(false)}
                  onHelp={() => {
                    setDrawer(false)
                    setHelp(true)
                  }}
                  onPalette={() => {
                    setDrawer(false)
                    setPalette(true)
                  }}
                />
              </Dialog.Popup>
            </Dialog.Portal>
          </Dialog.Root>
          <Logo />
          <span className="text-[15px] font-semibold tracking-tight">Waybill</span>
          <SandboxMark />
          <span className="grow" />
          <IconButton label="Search" onClick={openPalette}>
            <Search size={17} />
          </IconButton>
        </header>
        <ConnectionBanner />
        <TestModeBanner />
        <main id="main" tabIndex={-1} className="min-w-0 grow outline-none">
          <Suspense fallback={<LoadingScreen />}>
            {isAllowed ? <Outlet key={isTest ? "test" : "live"} /> : <ForbiddenScreen />}
          </Suspense>
        </main>
      </div>
      <CommandPalette open={palette} onOpenChange={setPalette} />
      <KeyboardHelp open={help} onClose={() => setHelp(false)} />
    </div>
  )
}

/** Placeholder for a screen whose code or data is loading. */
export const LoadingScreen = () => (
  <div className={SCREEN}>
    <ScreenSkeleton />
  </div>
)
