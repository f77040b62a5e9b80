import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { build, defineConfig, type Plugin, type Rolldown } from "vite"

/** Compression does not make smaller files smaller. */
const MIN_COMPRESSED_BYTES = 512

/** Writes .gz and .br files at build time, so that the server does not compress each response. */
const precompress = (): Plugin => {
  let folder = ""
  return {
    name: "precompress",
    configResolved: (config) => {
      folder = join(config.root, config.build.outDir, "assets")
    },
    closeBundle: () => {
      for (const name of readdirSync(folder).filter((each) => /\.(?:js|css|svg)$/u.test(each))) {
        const bytes = readFileSync(join(folder, name))
        if (bytes.length < MIN_COMPRESSED_BYTES) continue
        writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
        const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }))
      }
    },
  }
}

/** Screens that people open first, by path, with the modules of their code. */
const FIRST_SCREENS: Readonly<Record<string, ReadonlyArray<string>>> = {
  "/overview": ["src/overview/Overview.tsx"],
  "/emails": ["src/emails/Emails.tsx"],
}
const EARLY = "src/early/main.ts"
const EARLY_TAG = `<script src="/${EARLY}"></script>`

/**
 * Writes the early script into the page, so that it runs before any file is requested. It knows the files with the code
 * of the first screens; the server allows it by its hash.
 */
const inlineEarly = (): Plugin => {
  let root = ""
  return {
    name: "inline-early",
    configResolved: (config) => {
      root = config.root
    },
    transformIndexHtml: {
      order: "post",
      handler: async (html, { bundle }) => {
        if (!html.includes(EARLY_TAG)) throw new Error(`index.html has no ${EARLY_TAG}`)
        // The development server serves modules, and finds those of a screen by itself.
        if (bundle === undefined) return html.replace(EARLY_TAG, `<script type="module" src="/${EARLY}"></script>`)
        const chunks = Object.values(bundle).filter((each): each is Rolldown.OutputChunk => each.type === "chunk")
        const isLoaded = (file: string) => html.includes(`/${file}"`)
        const codeOf = Object.entries(FIRST_SCREENS).map(([path, modules]) => {
          const roots = chunks.filter(({ facadeModuleId }) =>
            modules.some((module) => facadeModuleId === join(root, module)),
          )
          if (roots.length !== modules.length) throw new Error(`${path} has no code of its own`)
          const files = new Set(roots.map(({ fileName }) => fileName))
          // A set goes through what is added meanwhile.
          for (const file of files)
            for (const imported of chunks.find(({ fileName }) => fileName === file)?.imports ?? []) files.add(imported)
          return [path, [...files].filter((file) => !isLoaded(file)).map((file) => `/${file}`)]
        })
        const code = await bundled(root, { CODE_OF_SCREENS: JSON.stringify(Object.fromEntries(codeOf)) })
        return html.replace(EARLY_TAG, () => `<script>${code}</script>`)
      },
    },
  }
}

/** Bundles the early script into one text. */
const bundled = async (root: string, define: Record<string, string>): Promise<string> => {
  const built = (await build({
    root,
    configFile: false,
    logLevel: "error",
    publicDir: false,
    define,
    build: {
      target: "es2022",
      write: false,
      rolldownOptions: { input: join(root, EARLY), output: { format: "iife" } },
    },
  })) as Rolldown.RolldownOutput
  return built.output[0].code.trim()
}

export default defineConfig({
  plugins: [react(), tailwindcss(), inlineEarly(), precompress()],
  build: {
    target: "es2022",
    // Inlined images would require data: in the content security policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // A browser waits for each file, so what every screen needs is in few of them.
        codeSplitting: {
          groups: [
            {
              name: "vendor",
              test: /node_modules\/(?:react|react-dom|scheduler|@tanstack\/(?!(?:react-)?virtual)[a-z-]+|@base-ui|@floating-ui)\//,
            },
            {
              name: "shared",
              test: /apps\/dashboard\/src\/(?:api|early|shell|ui|requests\/useKeyNames|settings\/UsageMeter|webhooks\/DisabledReason|operate\/queueFigures|firstEmail\/ReceiveCommand|emails\/list\/SentTime)|node_modules\/lucide-react/,
              minShareCount: 2,
            },
            { name: "mail", test: /apps\/dashboard\/src\/(?:emails|firstEmail)\//, minShareCount: 3 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { "/v1": "http://127.0.0.1:3025", "/auth": "http://127.0.0.1:3025", "/preview": "http://127.0.0.1:3025" },
  },
})
