<?php

// Helpers of the tests, which need no other package.

declare(strict_types=1);

use Waybill\Client;
use Waybill\WaybillError;

error_reporting(E_ALL);
set_error_handler(function (int $level, string $message, string $file, int $line): never {
    throw new ErrorException($message, 0, $level, $file, $line);
});
spl_autoload_register(function (string $class): void {
    require __DIR__ . '/../src/' . substr($class, strlen('Waybill\\')) . '.php';
});

/** @var int $checks */
$checks = 0;

function equal(mixed $expected, mixed $actual): void
{
    $GLOBALS['checks']++;
    if ($expected !== $actual) {
        throw new AssertionError(var_export($actual, true) . ' is not ' . var_export($expected, true));
    }
}

function check(bool $isTrue): void
{
    equal(true, $isTrue);
}

/** Returns the error of a call that must be refused. */
function refused(callable $call): WaybillError
{
    try {
        $call();
    } catch (WaybillError $refusal) {
        return $refusal;
    }
    throw new AssertionError('it was not refused');
}

function client(string $mode, mixed ...$options): Client
{
    return new Client(...['baseUrl' => getenv('WAYBILL_TEST_PROXY') . "/$mode", ...$options]);
}

/**
 * @param array<string, mixed> $fields
 * @return array<string, mixed>
 */
function email(string $subject, array $fields = []): array
{
    $email = ['from' => 'Acme <hi@acme.test>', 'to' => 'ana@example.org', 'subject' => $subject, 'text' => 'Hello'];
    return [...$email, ...$fields];
}

/** @return list<mixed> */
function column(iterable $rows, string $name): array
{
    $values = [];
    foreach ($rows as $row) {
        $values[] = $row[$name];
    }
    return $values;
}

/** @param array<string, callable(): void> $tests */
function run(array $tests): void
{
    $failed = 0;
    foreach ($tests as $name => $test) {
        try {
            $test();
        } catch (Throwable $failure) {
            $failed++;
            echo "FAILED: $name\n$failure\n";
        }
    }
    echo count($tests) . " tests, {$GLOBALS['checks']} checks, $failed failed\n";
    exit($failed === 0 ? 0 : 1);
}
