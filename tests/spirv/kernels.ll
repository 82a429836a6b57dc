; Kernels as the SPIR-V driver is given them: each parameter is a member of the
; packed block, then state and launch.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"

%point = type { i32, double, i8 }
@scratch = internal addrspace(3) global [64 x i32] undef

declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func i64 @_Z12get_local_idj(i32)
declare spir_func void @_Z7barrierj(i32)

define spir_kernel void @saxpy(ptr addrspace(1) %y, i64 %ny, float %a, ptr addrspace(1) %x, i64 %nx) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %in = icmp slt i64 %i, %ny
  br i1 %in, label %work, label %done
work:
  %px = getelementptr float, ptr addrspace(1) %x, i64 %i
  %py = getelementptr float, ptr addrspace(1) %y, i64 %i
  %vx = load float, ptr addrspace(1) %px
  %vy = load float, ptr addrspace(1) %py
  %m = fmul float %a, %vx
  %s = fadd float %m, %vy
  store float %s, ptr addrspace(1) %py
  br label %done
done:
  ret void
}

define spir_kernel void @members(ptr addrspace(1) %out, i64 %n, i8 %a, i16 %b, double %c, ptr byval(%point) align 8 %p) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %first = icmp eq i64 %i, 0
  br i1 %first, label %work, label %done
work:
  %fa = sitofp i8 %a to double
  %fb = sitofp i16 %b to double
  %p0 = getelementptr %point, ptr %p, i32 0, i32 0
  %v0 = load i32, ptr %p0
  %f0 = sitofp i32 %v0 to double
  %p1 = getelementptr %point, ptr %p, i32 0, i32 1
  %f1 = load double, ptr %p1
  %p2 = getelementptr %point, ptr %p, i32 0, i32 2
  %v2 = load i8, ptr %p2
  %f2 = sitofp i8 %v2 to double
  store double %fa, ptr addrspace(1) %out
  %o1 = getelementptr double, ptr addrspace(1) %out, i64 1
  store double %fb, ptr addrspace(1) %o1
  %o2 = getelementptr double, ptr addrspace(1) %out, i64 2
  store double %c, ptr addrspace(1) %o2
  %o3 = getelementptr double, ptr addrspace(1) %out, i64 3
  store double %f0, ptr addrspace(1) %o3
  %o4 = getelementptr double, ptr addrspace(1) %out, i64 4
  store double %f1, ptr addrspace(1) %o4
  %o5 = getelementptr double, ptr addrspace(1) %out, i64 5
  store double %f2, ptr addrspace(1) %o5
  br label %done
done:
  ret void
}

define spir_kernel void @turn(ptr addrspace(1) %y, i64 %n) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %l = call spir_func i64 @_Z12get_local_idj(i32 0)
  %p = getelementptr i32, ptr addrspace(1) %y, i64 %i
  %v = load i32, ptr addrspace(1) %p
  %s = getelementptr [64 x i32], ptr addrspace(3) @scratch, i64 0, i64 %l
  store i32 %v, ptr addrspace(3) %s
  call spir_func void @_Z7barrierj(i32 1)
  %r = sub i64 63, %l
  %t = getelementptr [64 x i32], ptr addrspace(3) @scratch, i64 0, i64 %r
  %w = load i32, ptr addrspace(3) %t
  store i32 %w, ptr addrspace(1) %p
  ret void
}

define spir_kernel void @raise(ptr addrspace(1) %y, i64 %n, ptr addrspace(1) %state, i64 %launch) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %in = icmp slt i64 %i, %n
  br i1 %in, label %work, label %out
work:
  %py = getelementptr i32, ptr addrspace(1) %y, i64 %i
  store i32 1, ptr addrspace(1) %py
  ret void
out:
  %old = cmpxchg ptr addrspace(1) %state, i32 0, i32 1 seq_cst seq_cst
  %won = extractvalue { i32, i1 } %old, 1
  br i1 %won, label %write, label %done
write:
  %report = getelementptr i8, ptr addrspace(1) %state, i64 4
  store i32 0, ptr addrspace(1) %report
  %pl = getelementptr i8, ptr addrspace(1) %state, i64 8
  store i64 %launch, ptr addrspace(1) %pl
  %pv = getelementptr i8, ptr addrspace(1) %state, i64 16
  store i64 %i, ptr addrspace(1) %pv
  %pw = getelementptr i8, ptr addrspace(1) %state, i64 24
  store i64 %n, ptr addrspace(1) %pw
  %pg = getelementptr i8, ptr addrspace(1) %state, i64 32
  %local = trunc i64 %i to i32
  store i32 %local, ptr addrspace(1) %pg
  %ready = atomicrmw xchg ptr addrspace(1) %state, i32 2 seq_cst
  br label %done
done:
  ret void
}

; Keeps the heap's address.
define spir_kernel void @keep(ptr addrspace(1) %y, i64 %n, ptr addrspace(1) %state, i64 %launch, i64 %heap) {
entry:
  store i64 %heap, ptr addrspace(1) %y
  ret void
}

; Prints its number, if there is room.
define spir_kernel void @say(i64 %n, ptr addrspace(1) %state, i64 %launch) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %in = icmp slt i64 %i, %n
  br i1 %in, label %ask, label %done
ask:
  %pp = getelementptr i8, ptr addrspace(1) %state, i64 104
  %at = atomicrmw add ptr addrspace(1) %pp, i64 24 seq_cst
  %pr = getelementptr i8, ptr addrspace(1) %state, i64 112
  %room = load i64, ptr addrspace(1) %pr
  %end = add i64 %at, 24
  %fits = icmp ule i64 %end, %room
  br i1 %fits, label %write, label %done
write:
  %first = getelementptr i8, ptr addrspace(1) %state, i64 256
  %record = getelementptr i8, ptr addrspace(1) %first, i64 %at
  %report = getelementptr i8, ptr addrspace(1) %record, i64 4
  store i32 1, ptr addrspace(1) %report
  %pl = getelementptr i8, ptr addrspace(1) %record, i64 8
  store i64 %launch, ptr addrspace(1) %pl
  %pv = getelementptr i8, ptr addrspace(1) %record, i64 16
  store i64 %i, ptr addrspace(1) %pv
  store i32 1802071150, ptr addrspace(1) %record
  br label %done
done:
  ret void
}

define spir_kernel void @place(ptr addrspace(1) %y, i64 %n0, i64 %n1, i64 %n2) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %j = call spir_func i64 @_Z13get_global_idj(i32 1)
  %k = call spir_func i64 @_Z13get_global_idj(i32 2)
  %a = mul i64 %k, %n1
  %b = add i64 %a, %j
  %c = mul i64 %b, %n0
  %d = add i64 %c, %i
  %p = getelementptr i64, ptr addrspace(1) %y, i64 %d
  %e = mul i64 %j, 10
  %f = mul i64 %k, 100
  %g = add i64 %i, %e
  %h = add i64 %g, %f
  store i64 %h, ptr addrspace(1) %p
  ret void
}

; Works for as long as it is told to.
define spir_kernel void @work(ptr addrspace(1) %y, i64 %n, i64 %rounds) {
entry:
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %p = getelementptr i64, ptr addrspace(1) %y, i64 %i
  %v = load i64, ptr addrspace(1) %p
  br label %loop
loop:
  %r = phi i64 [ 0, %entry ], [ %r1, %loop ]
  %x = phi i64 [ %v, %entry ], [ %x2, %loop ]
  %x0 = mul i64 %x, 6364136223846793005
  %x1 = add i64 %x0, 1442695040888963407
  %sh = lshr i64 %x1, 33
  %x2 = xor i64 %x1, %sh
  %r1 = add i64 %r, 1
  %more = icmp slt i64 %r1, %rounds
  br i1 %more, label %loop, label %end
end:
  store i64 %x2, ptr addrspace(1) %p
  ret void
}

; Which entry was launched, and what it was told of the array's size. The second
; one has the low half of it.
define spir_kernel void @either(ptr addrspace(1) %y, i64 %n, i64 %value) {
entry:
  %told = add i64 %n, 1000
  store i64 %told, ptr addrspace(1) %y
  ret void
}

define spir_kernel void @either_known(ptr addrspace(1) %y, i32 %n, i64 %value) {
entry:
  %wide = zext i32 %n to i64
  %told = add i64 %wide, 2000
  store i64 %told, ptr addrspace(1) %y
  ret void
}
