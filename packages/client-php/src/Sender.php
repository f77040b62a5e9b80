<?php

declare(strict_types=1);

namespace Waybill;

/**
 * Sends requests, and repeats those that failed for a while.
 *
 * @internal
 */
final class Sender
{
    private const DEFAULT_URL = 'http://127.0.0.1:3025';
    /** Limits that last for hours or days: a caller decides whether to wait so long. */
    private const LONG_LIMITS = ['monthly_quota', 'suppression_changes'];
    private const FIRST_PAUSE = 0.25;
    private const LONGEST_PAUSE = 30.0;
    /** Fields whose empty array is an object of JSON. */
    private const OBJECTS = ['headers', 'metadata', 'tracking', 'match', 'locales', 'variables'];
    private readonly string $key;
    private readonly string $base;
    /** Position of the last write, in responses of a service with read replicas. It makes reads include the write. */
    private ?string $position = null;

    public function __construct(
        #[\SensitiveParameter] ?string $apiKey,
        ?string $baseUrl,
        private readonly int $retries,
        private readonly float $timeout,
    ) {
        $key = $apiKey ?? self::environment('WAYBILL_KEY') ?? self::environment('WAYBILL_API_KEY');
        if ($key === null || !Client::isWellFormedKey($key)) {
            throw new WaybillError('invalid_key', $key === null
                ? 'There is no API key. Set WAYBILL_KEY, or give the key to the client.'
                : 'This is not a complete Waybill API key (wb_…).');
        }
        $url = rtrim($baseUrl ?? self::environment('WAYBILL_URL') ?? self::DEFAULT_URL, '/');
        $this->base = preg_replace('#/v1$#D', '', $url) ?? $url;
        if (preg_match('#^https?://[^/]#', $this->base) !== 1) {
            throw WaybillError::invalid('baseUrl', 'is not an http or https URL');
        }
        $this->key = $key;
    }

    /** A dump does not show the key. */
    public function __debugInfo(): array
    {
        return [];
    }

    /**
     * @param list<string> $parts
     * @param array<string, mixed> $query
     * @param array<string, mixed>|null $body
     */
    public function call(
        string $operation,
        array $parts = [],
        array $query = [],
        ?array $body = null,
        ?string $idempotencyKey = null,
        bool $binary = false,
    ): mixed {
        [$method, $template] = explode(' ', $operation, 2);
        $fill = function () use (&$parts): string {
            return rawurlencode(array_shift($parts) ?? '');
        };
        $path = preg_replace_callback('/\{\w+\}/', $fill, $template);
        $fields = self::queryFields($query);
        $url = $this->base . $path . ($fields === [] ? '' : '?' . implode('&', $fields));
        $headers = ["Authorization: Bearer $this->key", 'Accept: application/json', 'Content-Type: application/json'];
        // Makes a retry safe: the service runs requests with the same key once.
        if ($method === 'POST') {
            $once = $idempotencyKey ?? self::randomKey();
            if (preg_match('/^[\x20-\x7e]+$/D', $once) !== 1) {
                throw WaybillError::invalid('idempotencyKey', 'is not 1 to 255 printable characters');
            }
            $headers[] = "Idempotency-Key: $once";
        }
        $headers = [...$headers, ...($this->position === null ? [] : ["X-Waybill-Position: $this->position"])];
        $http = [
            'method' => $method,
            'header' => $headers,
            'content' => $body === null ? '' : self::json($body),
            // The `wait` of a request adds to the normal timeout.
            'timeout' => $this->timeout + (int) ($query['wait'] ?? 0),
            // The API never redirects; another host must not get the key.
            'follow_location' => 0,
            'ignore_errors' => true,
        ];
        for ($tries = 0; ; $tries++) {
            try {
                return $this->attempt($method, $url, $http, $binary);
            } catch (WaybillError $failure) {
                if ($tries >= $this->retries || !self::isRepeated($failure)) {
                    throw $failure;
                }
                usleep((int) (1e6 * ($failure->retryAfter ?? self::backoff($tries))));
            }
        }
    }

    /** @param array<string, mixed> $http */
    private function attempt(string $method, string $url, array $http, bool $binary): mixed
    {
        $problem = 'no response';
        set_error_handler(function (int $_, string $message) use (&$problem): bool {
            $problem = $message;
            return true;
        });
        try {
            $stream = fopen($url, 'r', false, stream_context_create(['http' => $http]));
            $text = $stream === false ? false : stream_get_contents($stream);
            $answer = $stream === false ? [] : stream_get_meta_data($stream);
        } finally {
            restore_error_handler();
        }
        $lines = $answer['wrapper_data'] ?? [];
        if ($text === false || ($answer['timed_out'] ?? false) || !is_array($lines)) {
            throw new WaybillError('connection_failed', "no response from $this->base: $problem");
        }
        [$status, $headers] = self::parseHead($lines);
        $this->position = ($method === 'GET' ? null : $headers['x-waybill-position'] ?? null) ?? $this->position;
        if (strlen($text) < (int) ($headers['content-length'] ?? 0)) {
            throw new WaybillError('connection_failed', "the response of $this->base is not complete");
        }
        if ($status < 200 || $status > 299) {
            throw self::errorOf($status, $headers, $text);
        }
        if ($binary) {
            return $text;
        }
        try {
            return json_decode($text, true, flags: \JSON_THROW_ON_ERROR);
        } catch (\JsonException) {
            // The stream ends without an error where an answer in chunks breaks off.
            if (str_contains($headers['content-type'] ?? '', 'json')) {
                throw new WaybillError('connection_failed', "the response of $this->base is not complete");
            }
            throw new WaybillError('bad_answer', "$this->base is not a Waybill API: no JSON.", status: $status);
        }
    }

    /**
     * @param array<mixed> $lines
     * @return array{int, array<string, string>} Status and headers of the last answer: interim ones come before it
     */
    private static function parseHead(array $lines): array
    {
        $status = 0;
        $headers = [];
        foreach ($lines as $line) {
            if (preg_match('#^HTTP/\S+ (\d{3})#', (string) $line, $match) === 1) {
                [$status, $headers] = [(int) $match[1], []];
            } elseif (preg_match('/^([^:]+):\s*(.*)$/', (string) $line, $match) === 1) {
                $headers[strtolower($match[1])] = trim($match[2]);
            }
        }
        return [$status, $headers];
    }

    /** @param array<string, string> $headers */
    private static function errorOf(int $status, array $headers, string $text): WaybillError
    {
        $waits = $headers['retry-after'] ?? '';
        $retryAfter = preg_match('/^\d+(?:\.\d+)?$/D', $waits) === 1 ? (float) $waits : null;
        $requestId = $headers['x-request-id'] ?? null;
        $refusal = json_decode($text, true)['error'] ?? null;
        // A proxy may answer with a page of its own.
        if (!is_array($refusal) || !is_string($refusal['code'] ?? null)) {
            $problem = "The service answered with HTTP $status.";
            return new WaybillError('bad_answer', $problem, null, $status, $requestId, retryAfter: $retryAfter);
        }
        return new WaybillError(
            $refusal['code'],
            (string) ($refusal['message'] ?? ''),
            $refusal['reason'] ?? null,
            $status,
            $requestId ?? $refusal['request_id'] ?? null,
            $refusal['details'] ?? [],
            $retryAfter,
        );
    }

    private static function isRepeated(WaybillError $failure): bool
    {
        return $failure->status === 429
            ? !in_array($failure->reason, self::LONG_LIMITS, true)
            : $failure->errorCode === 'connection_failed' || $failure->status >= 500;
    }

    /** Adds jitter, so that clients which failed together do not retry together. */
    private static function backoff(int $tries): float
    {
        return min(self::LONGEST_PAUSE, self::FIRST_PAUSE * 2 ** $tries) * random_int(500, 1000) / 1000;
    }

    /**
     * Several tags are several parameters; other lists are separated by commas. Pairs are parameters such as `metadata.order`.
     *
     * @param array<string, mixed> $query
     * @return list<string>
     */
    private static function queryFields(array $query): array
    {
        $fields = [];
        foreach ($query as $name => $value) {
            if (is_array($value) && $name === 'metadata') {
                foreach ($value as $key => $each) {
                    $fields[] = rawurlencode("$name.$key") . '=' . rawurlencode((string) $each);
                }
                continue;
            }
            $values = is_array($value) ? ($name === 'tag' ? $value : [implode(',', $value)]) : [$value];
            foreach ($values as $each) {
                if ($each !== null) {
                    $text = is_bool($each) ? ($each ? 'true' : 'false') : (string) self::encode($each);
                    $fields[] = rawurlencode($name) . '=' . rawurlencode($text);
                }
            }
        }
        return $fields;
    }

    /** @param array<string, mixed> $body */
    private static function json(array $body): string
    {
        $encoded = $body === [] ? new \stdClass() : self::encode($body);
        return json_encode($encoded, \JSON_THROW_ON_ERROR | \JSON_UNESCAPED_UNICODE | \JSON_UNESCAPED_SLASHES);
    }

    /** `$isData` is for what a template is given: its empty arrays stay lists, whatever their names. */
    private static function encode(mixed $value, string|int $name = '', bool $isData = false): mixed
    {
        if ($value instanceof \DateTimeInterface) {
            $utc = \DateTimeImmutable::createFromInterface($value)->setTimezone(new \DateTimeZone('UTC'));
            return $utc->format('Y-m-d\TH:i:s.v\Z');
        }
        if ($value === [] && !$isData && in_array($name, self::OBJECTS, true)) {
            return new \stdClass();
        }
        if (!is_array($value)) {
            return $value;
        }
        $fields = [];
        foreach ($value as $key => $each) {
            $fields[$key] = self::encode($each, $key, $isData || $name === 'variables');
        }
        return $fields;
    }

    /** Returns a UUID of version 4. */
    private static function randomKey(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }

    private static function environment(string $name): ?string
    {
        return getenv($name) ?: null;
    }
}
