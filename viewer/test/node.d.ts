// The few names of node that tests use; no need for a package of types.
declare module "node:test" {
    export function test(name: string, body: () => void | Promise<void>): void;
}
declare module "node:assert/strict" {
    interface Assert {
        equal(actual: unknown, expected: unknown, message?: string): void;
        deepEqual(actual: unknown, expected: unknown, message?: string): void;
        ok(value: unknown, message?: string): void;
        throws(body: () => unknown, expected?: RegExp): void;
        rejects(body: Promise<unknown>, expected?: RegExp): Promise<void>;
    }
    const assert: Assert;
    export default assert;
}
