# The service without an embedded Postgres: set DATABASE_URL. docs/operating/install.md says how to run it.
# If docker.io cannot be reached, use any image with Node 24 and npm: --build-arg NODE=…
ARG NODE=docker.io/library/node:24-alpine

# Production packages only: no embedded Postgres, no compiler, no test tools.
FROM ${NODE} AS packages
WORKDIR /waybill
COPY package.json package-lock.json ./
COPY packages/api/package.json packages/api/
COPY packages/client/package.json packages/client/
COPY packages/domain/package.json packages/domain/
COPY packages/embedded-postgres/package.json packages/embedded-postgres/
COPY packages/mail/package.json packages/mail/
COPY packages/templates/package.json packages/templates/
COPY packages/nodemailer-transport/package.json packages/nodemailer-transport/
COPY packages/redirect/package.json packages/redirect/
COPY packages/runtime/package.json packages/runtime/
COPY packages/store/package.json packages/store/
COPY packages/testing/package.json packages/testing/
COPY packages/verify/package.json packages/verify/
COPY apps/dashboard/package.json apps/dashboard/
COPY apps/server/package.json apps/server/
RUN npm install --no-save --ignore-scripts --no-audit --no-fund --omit=dev --omit=optional --workspace apps/server \
  && find node_modules apps/server/node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# Builds the dashboard with tools that the final image does not contain.
FROM ${NODE} AS dashboard
WORKDIR /waybill
COPY package.json package-lock.json tsconfig.json ./
COPY packages packages
COPY apps apps
RUN npm install --no-save --ignore-scripts --no-audit --no-fund --include=dev --include=optional \
  && cd apps/dashboard && NODE_ENV=production node ../../node_modules/vite/bin/vite.js build --logLevel warn

FROM ${NODE}
LABEL org.opencontainers.image.title="Waybill" org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /waybill
COPY --from=packages /waybill/node_modules node_modules
COPY --from=packages /waybill/apps/server/node_modules apps/server/node_modules
COPY --from=dashboard /waybill/apps/dashboard/dist apps/dashboard/dist
COPY package.json LICENSE ./
COPY db/migrations db/migrations
COPY packages/api packages/api
COPY packages/client packages/client
COPY packages/domain packages/domain
COPY packages/embedded-postgres packages/embedded-postgres
COPY packages/mail packages/mail
COPY packages/runtime packages/runtime
COPY packages/templates packages/templates
COPY packages/store packages/store
COPY packages/verify packages/verify
COPY apps/server apps/server
COPY bin/health.mjs bin/health.mjs
COPY deploy/image/waybill bin/waybill
# All state is in Postgres, except the instance key where WAYBILL_INSTANCE_KEY is not set.
RUN mkdir /data && chown 1000:1000 /data && ln -s /waybill/bin/waybill /usr/local/bin/waybill
VOLUME /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3025 SMTP_PORT=2525 METRICS_HOST=0.0.0.0 METRICS_PORT=9464 WAYBILL_DATA=/data
EXPOSE 3025 2525 9464
# A number, so that a policy against root can check it.
USER 1000:1000
STOPSIGNAL SIGTERM
# Every role has the metrics port, with or without an API.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "bin/health.mjs"]
# The flags with which the launcher runs a service.
ENTRYPOINT ["node", "--max-semi-space-size=32", "--no-allocation-site-pretenuring", "--no-parallel-scavenge", "apps/server/src/boot/main.ts"]
CMD ["start"]
